from django.apps import AppConfig


class TasksApiConfig(AppConfig):
    name = "tasks_api"
