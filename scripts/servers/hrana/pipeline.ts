import type { HranaValue } from "./value.ts";

// The JSON messages of Hrana 2 and 3 over HTTP, see https://github.com/tursodatabase/libsql/blob/main/docs/HRANA_3_SPEC.md.

/** The SQL text, or the id of SQL that `store_sql` stored on the server. */
export interface SqlSource {
  readonly sql?: string | null;
  readonly sql_id?: number | null;
}

export interface Stmt extends SqlSource {
  readonly args?: readonly HranaValue[];
  readonly named_args?: readonly { readonly name: string; readonly value: HranaValue }[];
  readonly want_rows?: boolean;
}

export type BatchCond =
  | { readonly type: "ok" | "error"; readonly step: number }
  | { readonly type: "not"; readonly cond: BatchCond }
  | { readonly type: "and" | "or"; readonly conds: readonly BatchCond[] }
  | { readonly type: "is_autocommit" };

export interface BatchStep {
  readonly condition?: BatchCond | null;
  readonly stmt: Stmt;
}

export type StreamRequest =
  | { readonly type: "execute"; readonly stmt: Stmt }
  | { readonly type: "batch"; readonly batch: { readonly steps: readonly BatchStep[] } }
  | ({ readonly type: "sequence" | "describe" } & SqlSource)
  | { readonly type: "store_sql"; readonly sql_id: number; readonly sql: string }
  | { readonly type: "close_sql"; readonly sql_id: number }
  | { readonly type: "get_autocommit" | "close" };

export interface PipelineRequest {
  readonly baton?: string | null;
  readonly requests: readonly StreamRequest[];
}

export interface StmtResult {
  readonly cols: readonly { readonly name: string; readonly decltype: string | null }[];
  readonly rows: readonly (readonly HranaValue[])[];
  readonly affected_row_count: number;
  readonly last_insert_rowid: string;
}

export interface HranaError {
  readonly message: string;
  readonly code: string;
}

export interface BatchResult {
  readonly step_results: readonly (StmtResult | null)[];
  readonly step_errors: readonly (HranaError | null)[];
}

export interface DescribeResult {
  readonly params: readonly { readonly name: string | null }[];
  readonly cols: readonly { readonly name: string; readonly decltype: string | null }[];
  readonly is_explain: boolean;
  readonly is_readonly: boolean;
}
