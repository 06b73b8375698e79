"""The naive reference: a submission and a GET as Django, REST framework and the ORM suggest them, in their best
ordinary set-up. It has none of the service's promises, only the same work on the same kind of tables."""
