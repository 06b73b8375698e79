"""URL paths of the console; the front serves its event stream."""

from django.urls import path

from console import entrance
from console.create import views as create
from console.gallery import views as gallery
from console.live import views as live
from console.task_page import views as task_page
from console.usage import views as usage

app_name = "console"
urlpatterns = [
    path("", entrance.home, name="home"),
    path("sign-in/", entrance.sign_in, name="sign-in"),
    path("sign-out/", entrance.sign_out, name="sign-out"),
    path("create/", create.create, name="create"),
    path("create/<path:model>/", create.form, name="form"),
    path("quote/<path:model>/", create.quote, name="quote"),
    path("live/", live.live, name="live"),
    path("tasks/<str:task_id>/cancel/", live.cancel, name="cancel"),
    path("gallery/", gallery.gallery, name="gallery"),
    path("tasks/<str:task_id>/", task_page.task, name="task"),
    path("tasks/<str:task_id>/send-again/", task_page.send_again, name="send-again"),
    path("usage/", usage.usage, name="usage"),
    path("usage/<str:month>.csv", usage.statement, name="statement"),
]
