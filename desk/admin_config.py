"""Configuration of Django's admin with the desk as its site."""

from django.contrib.admin.apps import AdminConfig


class DeskAdminConfig(AdminConfig):
    default_site = "desk.site.DeskSite"
