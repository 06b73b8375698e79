# By digest: a tag may be moved. `docker buildx imagetools inspect python:3.13-slim` tells the newest.
FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b

LABEL org.opencontainers.image.title="Darkroom"
LABEL org.opencontainers.image.version="1.0.0"

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PATH=/srv/darkroom/.venv/bin:$PATH
WORKDIR /srv/darkroom

COPY requirements.lock ./
RUN python -m venv .venv \
    && .venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock

COPY . .
RUN DEBUG=true DATABASE_URL=sqlite://:memory: python manage.py collectstatic --noinput \
    && chmod -R a+rX var \
    && useradd --system --no-create-home darkroom \
    && mkdir /srv/assets /srv/spool \
    && chown darkroom /srv/assets /srv/spool

USER darkroom
ENV HOST=0.0.0.0 PORT=8000 ASSET_STORAGE=file:///srv/assets
VOLUME /srv/assets
EXPOSE 8000
CMD ["gunicorn", "-c", "config/gunicorn.py"]
