"""Registration of the desk's admins, in place of Django's for users, groups and history."""

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User

from accounts.models import Account, ApiKey
from accounts.models import Group as KeyGroup
from billing.models import RelayedCall
from callbacks.models import Delivery
from catalog.models import Channel, ChannelModel, MediaModel, Plan, PlanChoice
from desk.access.history_admin import HistoryAdmin
from desk.access.people_admin import DeskGroupAdmin, DeskUserAdmin
from desk.accounts_page.account_admin import AccountAdmin
from desk.accounts_page.key_admin import ApiKeyAdmin
from desk.bills.bill_admin import BillAdmin, LineAdmin
from desk.callback_page.delivery_admin import DeliveryAdmin
from desk.channel_page.channel_admin import KeptChannelAdmin
from desk.channel_page.offer_admin import ChannelModelAdmin
from desk.groups_page.admin import KeyGroupAdmin
from desk.models import BillLine, ProviderBill
from desk.models_page.admin import MediaModelAdmin
from desk.money.relayed_call_admin import RelayedCallAdmin
from desk.plans_page.admin import PlanAdmin, PlanChoiceAdmin
from desk.task_page.call_admin import CallAdmin
from desk.task_page.task_admin import TaskAdmin
from tasks.models import Call, Task

admin.site.unregister((User, Group))
for model, its_admin in {
    User: DeskUserAdmin,
    Group: DeskGroupAdmin,
    LogEntry: HistoryAdmin,
    Account: AccountAdmin,
    ApiKey: ApiKeyAdmin,
    KeyGroup: KeyGroupAdmin,
    Channel: KeptChannelAdmin,
    ChannelModel: ChannelModelAdmin,
    MediaModel: MediaModelAdmin,
    Plan: PlanAdmin,
    PlanChoice: PlanChoiceAdmin,
    Call: CallAdmin,
    Task: TaskAdmin,
    ProviderBill: BillAdmin,
    BillLine: LineAdmin,
    RelayedCall: RelayedCallAdmin,
    Delivery: DeliveryAdmin,
}.items():
    admin.site.register(model, its_admin)
