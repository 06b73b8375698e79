"""The application of Django's admin, with our site as its own."""

from django.contrib.admin.apps import AdminConfig


class DeskAdminConfig(AdminConfig):
    default_site = "desk.site.DeskSite"
