"""Relations of pg_catalog that clients look into; but for a few they are always empty here."""

from __future__ import annotations

from catalog.system.relation import SystemRelation, declare

_EMPTY = {
    "pg_index": "indexrelid oid, indrelid oid, indnatts smallint, indnkeyatts smallint,"
    " indisunique boolean, indnullsnotdistinct boolean, indisprimary boolean,"
    " indisexclusion boolean, indimmediate boolean, indisclustered boolean, indisvalid boolean,"
    " indcheckxmin boolean, indisready boolean, indislive boolean, indisreplident boolean,"
    " indkey smallint[], indcollation oid[], indclass oid[], indoption smallint[],"
    " indexprs text, indpred text",
    "pg_opclass": "oid oid, opcmethod oid, opcname text, opcnamespace oid, opcowner oid,"
    " opcfamily oid, opcintype oid, opcdefault boolean, opckeytype oid",
    "pg_indexes": "schemaname text, tablename text, indexname text, tablespace text,"
    " indexdef text",
    "pg_matviews": "schemaname text, matviewname text, matviewowner text, tablespace text,"
    " hasindexes boolean, ispopulated boolean, definition text",
    "pg_constraint": "oid oid, conname text, connamespace oid, contype text,"
    " condeferrable boolean,"
    " condeferred boolean, convalidated boolean, conrelid oid, contypid oid, conindid oid,"
    " conparentid oid, confrelid oid, confupdtype text, confdeltype text, confmatchtype text,"
    " conislocal boolean, coninhcount integer, connoinherit boolean, conkey smallint[],"
    " confkey smallint[], conbin text",
    "pg_default_acl": "oid oid, defaclrole oid, defaclnamespace oid, defaclobjtype text,"
    " defaclacl text[]",
    "pg_description": "objoid oid, classoid oid, objsubid integer, description text",
    "pg_shdescription": "objoid oid, classoid oid, description text",
    "pg_proc": "oid oid, proname text, pronamespace oid, proowner oid, prolang oid, prokind text,"
    " prorettype oid, proargtypes text, proretset boolean, pronargs smallint, prosrc text,"
    " provolatile text, proparallel text, prosecdef boolean, proacl text[]",
    "pg_language": "oid oid, lanname text",
    "pg_collation": "oid oid, collname text, collnamespace oid, collprovider text,"
    " collencoding integer, collcollate text, collctype text, colliculocale text,"
    " collisdeterministic boolean",
    "pg_inherits": "inhrelid oid, inhparent oid, inhseqno integer, inhdetachpending boolean",
    "pg_policy": "oid oid, polname text, polrelid oid, polcmd text, polpermissive boolean,"
    " polroles oid[], polqual text, polwithcheck text",
    "pg_trigger": "oid oid, tgrelid oid, tgparentid oid, tgname text, tgfoid oid, tgtype smallint,"
    " tgenabled text, tgisinternal boolean, tgconstraint oid, tgdeferrable boolean",
    "pg_statistic_ext": "oid oid, stxrelid oid, stxname text, stxnamespace oid, stxowner oid,"
    " stxstattarget integer, stxkeys text, stxkind text[], stxexprs text",
    "pg_publication": "oid oid, pubname text, pubowner oid, puballtables boolean,"
    " pubinsert boolean, pubupdate boolean, pubdelete boolean, pubtruncate boolean,"
    " pubviaroot boolean",
    "pg_publication_rel": "oid oid, prpubid oid, prrelid oid, prqual text, prattrs text",
    "pg_publication_namespace": "oid oid, pnpubid oid, pnnspid oid",
    "pg_foreign_table": "ftrelid oid, ftserver oid, ftoptions text[]",
    "pg_foreign_server": "oid oid, srvname text, srvowner oid, srvfdw oid, srvoptions text[]",
    "pg_foreign_data_wrapper": "oid oid, fdwname text, fdwowner oid",
    "pg_rewrite": "oid oid, rulename text, ev_class oid, ev_type text, ev_enabled text,"
    " is_instead boolean, ev_qual text, ev_action text",
    "pg_tablespace": "oid oid, spcname text, spcowner oid, spcacl text[], spcoptions text[]",
    "pg_extension": "oid oid, extname text, extowner oid, extnamespace oid, extversion text",
    "pg_enum": "oid oid, enumtypid oid, enumsortorder real, enumlabel text",
    "pg_range": "rngtypid oid, rngsubtype oid, rngmultitypid oid, rngcollation oid",
    "pg_depend": "classid oid, objid oid, objsubid integer, refclassid oid, refobjid oid,"
    " refobjsubid integer, deptype text",
    "pg_auth_members": "roleid oid, member oid, grantor oid, admin_option boolean",
    "pg_sequence": "seqrelid oid, seqtypid oid, seqstart bigint, seqincrement bigint,"
    " seqmax bigint, seqmin bigint, seqcache bigint, seqcycle boolean",
    "pg_sequences": "schemaname text, sequencename text",
    "pg_partitioned_table": "partrelid oid, partstrat text, partnatts smallint, partdefid oid,"
    " partattrs text, partexprs text",
    "pg_stat_activity": "pid integer, usename text, datname text, state text, query text",
    "pg_locks": "locktype text, pid integer, mode text, granted boolean",
    "pg_event_trigger": "oid oid, evtname text, evtevent text, evtowner oid, evtenabled text",
    "pg_timezone_names": "name text, abbrev text, is_dst boolean",
}

_FILLED = {
    "pg_matviews": (
        "SELECT s.name, o.name, r.name, NULL, false, v.hydrated, o.definition FROM raw.objects o"
        " JOIN raw.schemas s ON s.id = o.schema_id JOIN raw.roles r ON r.id = o.owner_id"
        " JOIN raw.view_states v ON v.id = o.id",
        "objects schemas roles view_states",
    ),
    "pg_description": (
        "SELECT oid, 1259, coalesce(sub_id, 0), comment FROM raw.comments",
        "comments",
    ),
}


def _relation(name: str, columns: str) -> SystemRelation:
    query, reads = _FILLED.get(name, ("", ""))
    return declare(f"pg_catalog.{name}", columns, query, reads=reads)


RELATIONS = tuple(_relation(name, columns) for name, columns in sorted(_EMPTY.items()))
