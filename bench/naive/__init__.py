"""Naive reference: a submission and a GET built as Django, REST framework and the ORM suggest, in their best ordinary
configuration. It does the same work on similar tables, without the service's guarantees."""
