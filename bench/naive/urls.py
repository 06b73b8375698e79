"""The naive reference's two URLs."""

from django.urls import path

from bench.naive.views import OneTask, Tasks

urlpatterns = [path("v1/tasks", Tasks.as_view()), path("v1/tasks/<int:task_id>", OneTask.as_view())]
