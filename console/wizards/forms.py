"""The forms that people type into."""

from __future__ import annotations

from django import forms

SSL_MODES = ("prefer", "disable", "require", "verify-ca", "verify-full")


class ConnectionForm(forms.Form):
    """A PostgreSQL upstream. The password becomes a secret; the draft never holds it."""

    name = forms.CharField(max_length=255, label="Name of the connection", initial="postgres")
    host = forms.CharField(max_length=255, label="Host")
    port = forms.IntegerField(min_value=1, max_value=65535, initial=5432, label="Port")
    database = forms.CharField(max_length=255, label="Database", initial="postgres")
    user = forms.CharField(max_length=255, label="User", initial="postgres")
    password = forms.CharField(
        required=False,
        label="Password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Becomes a secret. It is encrypted and never shown again.",
    )
    ssl_mode = forms.ChoiceField(
        choices=[(mode, mode) for mode in SSL_MODES], initial="prefer", label="TLS"
    )
    ssl_root = forms.CharField(
        required=False,
        label="Certificate authority (PEM)",
        widget=forms.Textarea(attrs={"rows": 3, "wide": "1", "spellcheck": "false"}),
    )
