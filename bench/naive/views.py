"""Two views, written as the frameworks' documentation shows."""

from typing import Any

from django.db import transaction
from django.db.models import F
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from bench.naive.models import NaiveAccount, NaiveEvent, NaiveLedgerEntry, NaiveTask

PRICE = 40_000
MOST_QUEUED = 10_000_000


class ParamsSerializer(serializers.Serializer[Any]):
    prompt = serializers.CharField(max_length=10_000)
    n = serializers.IntegerField(min_value=1, max_value=4, default=1)
    image_size = serializers.ChoiceField(["1K", "2K"], default="1K")
    aspect_ratio = serializers.CharField(default="1:1")


class SubmissionSerializer(serializers.Serializer[Any]):
    model = serializers.CharField(max_length=200)
    modality = serializers.ChoiceField(["image", "video"])
    params = ParamsSerializer()


class TaskSerializer(serializers.ModelSerializer[NaiveTask]):
    class Meta:
        model = NaiveTask
        fields = ["id", "model", "modality", "status", "params", "estimated_micros", "created_at"]


class SubmissionRefused(APIException):
    status_code = 429


class Tasks(APIView):
    def post(self, request: Request) -> Response:
        body = SubmissionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        key, repeated = request.user, request.headers.get("Idempotency-Key")
        known = NaiveTask.objects.filter(key=key, idempotency_key=repeated).first() if repeated else None
        if known is not None:
            return Response(TaskSerializer(known).data, status=202)
        with transaction.atomic():
            account = NaiveAccount.objects.select_for_update().get(pk=key.account_id)
            if NaiveTask.objects.filter(account=account, status="queued")[:100].count() >= MOST_QUEUED:
                raise SubmissionRefused("Too many queued tasks.")
            if account.balance_micros - account.held_micros < PRICE:
                raise SubmissionRefused("Not enough money.")
            task = NaiveTask.objects.create(
                key=key, account=account, idempotency_key=repeated, estimated_micros=PRICE, **body.validated_data
            )
            NaiveLedgerEntry.objects.create(account=account, task=task, kind="reserve", amount_micros=PRICE)
            NaiveEvent.objects.create(task=task, key=key, status="queued")
            NaiveAccount.objects.filter(pk=account.pk).update(held_micros=F("held_micros") + PRICE)
        return Response(TaskSerializer(task).data, status=202)


class OneTask(APIView):
    def get(self, request: Request, task_id: int) -> Response:
        return Response(TaskSerializer(get_object_or_404(NaiveTask, pk=task_id, key=request.user)).data)
