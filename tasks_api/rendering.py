"""How the views' answers become bytes: as JSON whose amounts of money are plain numbers."""

from rest_framework.renderers import JSONRenderer

from common.plain_json import PlainEncoder


class PlainJSONRenderer(JSONRenderer):
    """DRF's, but for the encoder."""

    encoder_class = PlainEncoder
