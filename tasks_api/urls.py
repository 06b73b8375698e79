"""The paths of the Task API that Django serves; the front serves assets, and waits around these."""

from django.urls import path, re_path

from tasks_api import deliveries, submissions, trace, views
from tasks_api.openai import images, videos

urlpatterns = [
    path("v1/tasks", submissions.TasksView.as_view()),
    path("v1/tasks/models", views.ModelsView.as_view()),
    path("v1/tasks/quote", submissions.QuoteView.as_view()),
    path("v1/tasks/usage", views.UsageView.as_view()),
    path("v1/tasks/<str:task_id>", views.TaskDetailView.as_view()),
    path("v1/tasks/<str:task_id>/assets", views.TaskAssetsView.as_view()),
    path("v1/tasks/<str:task_id>/cancel", views.CancelView.as_view()),
    path("v1/tasks/<str:task_id>/deliveries", deliveries.DeliveriesView.as_view()),
    path("v1/tasks/<str:task_id>/redeliver", deliveries.RedeliverView.as_view()),
    path("v1/tasks/<str:task_id>/trace", trace.TraceView.as_view()),
    path("v1/images/generations", images.ImagesView.as_view()),
    path("v1/images/edits", images.EditsView.as_view()),
    path("v1/videos", videos.VideosView.as_view()),
    path("v1/videos/<str:video_id>", videos.VideoView.as_view()),
    re_path(r"^v1/(?:tasks|videos)(/.*)?$", views.UnknownPathView.as_view()),
]
