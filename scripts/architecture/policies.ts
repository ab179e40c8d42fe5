/** A decision that only a few files may make, and how to recognize code that makes it. */
export interface Policy {
  readonly rule: string;
  /** A pattern that only code with this decision matches. */
  readonly sign: RegExp;
  /** All files that make the decision, below the library's `src/stores`. Empty: no store may make it. */
  readonly files: readonly string[];
  /** The fast path of a database (`<db>-fast.ts`) may make it too, because it does the same as the kit in the database's language. */
  readonly mayBeFast?: true;
}

/** The rules that all databases share, each with the files that decide it. */
export const policies: readonly Policy[] = [
  { rule: "fairness: who is claimed first after a claim without room", sign: /\bowed\b|Owed\b/, files: ["kit/claims/claims.ts"] },
  { rule: "fairness: whose turn it is among the keys", sign: /#lastKey\b/, files: ["kit/claims/permits.ts"] },
  {
    rule: "permits: who holds one",
    sign: /\b(PermitHolder|holderStatus)\b/,
    files: ["kit/claims/permits.ts", "kit/claims/permit-holders.ts"],
  },
  {
    rule: "permits and rates: the record of a key",
    sign: /\.(get|put)\("permit"/,
    files: ["kit/claims/permits.ts", "kit/claims/rates.ts", "kit/claims/unused-rates.ts"],
  },
  { rule: "workers: who is alive", sign: /\.(get|put)\("worker"/, files: ["kit/live-workers.ts"] },
  {
    rule: "rates: who may begin, and when",
    sign: /\b(periodMs|lastPlaces)\b/,
    files: ["kit/claims/rates.ts", "kit/claims/decide-rates.ts"],
  },
  {
    rule: "permits: how many there are is counted by the kit, not in a query",
    sign: /permit_?limit\s*[<>]|[<>]=?\s*[\w.]*permit_?limit/i,
    files: [],
  },
  { rule: "tombstones: when one is made and removed", sign: /\bkind: "(bury|remove)",/, files: ["kit/tombstones.ts"] },
  {
    rule: "tombstones: how long an id stays taken",
    sign: /retentionMs\s*(\?\?|\|\||[-+*/<>]|=\s*\d)|(?<!=)[-+*/<>]=?\s*[\w.#]*retentionMs/i,
    files: ["kit/tombstones.ts"],
  },
  {
    rule: "crashes: what counts as one",
    sign: /crashes\s*\+|crashes\)\s*\+/,
    files: ["kit/claims/guard.ts"],
    mayBeFast: true,
  },
];

/** Files that only the kit imports, because databases store rows and do not decide. */
export const insideTheKit: readonly string[] = [
  "claims/claims.ts",
  "claims/permits.ts",
  "claims/rates.ts",
  "claims/decide-rates.ts",
  "writing/row-writer.ts",
  "writing/row-writes.ts",
  "claims/take-executions.ts",
  "writing/verdict.ts",
  "writing/writes.ts",
];
