import { describe, expect, it } from "vitest";
import { checkDatabases } from "./check-databases.ts";
import { checkKitImports, checkPolicies } from "./check-policies.ts";
import type { DatabaseGroup } from "./databases.ts";
import { insideTheKit, policies } from "./policies.ts";
import { readSource, type SourceFile } from "./source-file.ts";

const stores = "packages/stepfold/src/stores";

/** Makes source files of stores. Keys are paths below `src/stores`, values are texts. */
function tree(texts: Record<string, string>): SourceFile[] {
  return Object.entries(texts).map(([path, text]) => readSource({ path: `${stores}/${path}`, text }));
}

function shown(violations: readonly { path: string; message: string }[]): string[] {
  return violations.map(({ path, message }) => `${path.slice(stores.length + 1)}: ${message}`);
}

const lines = (count: number): string => "work();\n".repeat(count);

describe("checkDatabases", () => {
  const groups: readonly DatabaseGroup[] = [
    { folders: { lite: ["lite-session"], web: [] }, maxLines: 11 },
    { folders: { heavy: [] }, maxLines: 5 },
  ];
  const good = {
    "databases/lite/index.ts": lines(1),
    "databases/lite/lite-store.ts": lines(3),
    "databases/lite/lite-table.ts": lines(1),
    "databases/lite/lite-session.ts": lines(1),
    "databases/web/index.ts": lines(1),
    "databases/web/web-store.ts": lines(3),
    "databases/heavy/index.ts": lines(1),
    "databases/heavy/heavy-store.ts": lines(4),
  };

  it("takes the files that every database has, its own ones, and as many lines as its table says", () => {
    expect(checkDatabases(tree(good), groups)).toEqual([]);
  });

  it.each([
    ["a name of its own that is not listed", "databases/lite/lite-rows.ts", "is no name that a file of a database has"],
    ["the name of another database", "databases/lite/web-table.ts", "is no name that a file of a database has"],
    ["a folder inside", "databases/lite/rows/lite-table.ts", "is no name that a file of a database has"],
    ["a database that is not listed", "databases/attic/attic-store.ts", "is in a folder that the table of databases does not know"],
  ])("refuses %s", (_what, path, message) => {
    expect(shown(checkDatabases(tree({ ...good, [path]: "" }), groups))).toEqual([`${path}: ${message}`]);
  });

  it.each(["databases/lite/index.ts", "databases/lite/lite-store.ts", "databases/lite/lite-session.ts"])("misses %s", (path) => {
    const { [path as keyof typeof good]: _, ...rest } = good;
    expect(shown(checkDatabases(tree(rest), groups))).toEqual([`${path}: is missing, or listed in vain`]);
  });

  it("counts the lines of all folders of a group", () => {
    const longer = tree({ ...good, "databases/web/web-store.ts": lines(5) });
    expect(shown(checkDatabases(longer, groups))).toEqual(["databases/lite: lite + web: 12 lines of code, more than 11"]);
  });

  it("does not count comments and empty lines", () => {
    const explained = tree({ ...good, "databases/web/web-store.ts": `/** What it does.\n * And why. */\n${lines(3)}\n\n// the end\n` });
    expect(checkDatabases(explained, groups)).toEqual([]);
  });

  it("lets a database under its ceiling be, and wants a ceiling that is not needed removed", () => {
    const longer = tree({ ...good, "databases/web/web-store.ts": lines(5) });
    expect(checkDatabases(longer, groups, { lite: 12 })).toEqual([]);
    const longest = tree({ ...good, "databases/web/web-store.ts": lines(6) });
    expect(shown(checkDatabases(longest, groups, { lite: 12 }))).toEqual(["databases/lite: lite + web: 13 lines of code, more than 12"]);
    expect(shown(checkDatabases(tree(good), groups, { lite: 12 }))).toEqual([
      "databases/lite: has 10 lines of code and needs no ceiling of its own: remove it",
    ]);
  });
});

describe("checkPolicies", () => {
  /** Code that makes the decision of each policy, by file. */
  const deciding: Readonly<Record<string, string>> = {
    "kit/claims/claims.ts": "let permitsAreOwed = false;",
    "kit/claims/permit-holders.ts": "export interface PermitHolder { id: string }",
    "kit/claims/permits.ts": 'interface PermitHolder { id: string } class P { #lastKey = ""; } records.get("permit", [key]);',
    "kit/claims/rates.ts": 'records.put("permit", [change]); const { periodMs } = state;',
    "kit/claims/decide-rates.ts": "const isFree = times.at(-limit)! + periodMs <= now;",
    "kit/claims/unused-rates.ts": 'await records.put("permit", deletions);',
    "kit/live-workers.ts": 'await table.records.put("worker", [sign]);',
    "kit/tombstones.ts": 'const w = { kind: "bury", id }; const isOver = deletedAt + retentionMs <= now;',
    "kit/claims/guard.ts": "const c = crashes + 1;",
  };

  /** Code that a database must not have, with a description. */
  const broken: readonly (readonly [string, string])[] = [
    ["the fairness rule", "let keysAreOwed = false;"],
    ["the order of keys", "class T { #lastKey = ''; }"],
    ["holders of permits", "const held = holders.filter((one) => holderStatus(one, guard, now) === 'held');"],
    ["the record of a key", 'await this.records.put("permit", [change]);'],
    ["who is alive", 'await this.records.get("worker", parts);'],
    ["when there is room for one more", "const isFree = begun <= now - periodMs;"],
    ["permits counted in SQL", "const sql = `WHERE held < e.permit_limit`;"],
    ["permits counted in code", "const isFree = permitLimit > held;"],
    ["the default of the retention", "const retentionMs = options.idempotencyRetentionMs ?? month;"],
    ["another default", "function open({ retentionMs = 5000 }) {}"],
    ["the end of the retention", "const isOver = row.deletedAt <= now - this.#retentionMs;"],
    ["tombstones", 'write({ kind: "bury", id, when });'],
    ["what counts as a crash", "const sql = `SET crashes = crashes + 1`;"],
  ];

  it("takes a kit that decides in the files that are listed", () => expect(checkPolicies(tree(deciding), policies)).toEqual([]));

  it.each(broken)("finds %s in a database", (_what, code) => {
    const violations = checkPolicies(tree({ ...deciding, "databases/lite/lite-table.ts": code }), policies);
    expect(shown(violations)[0]).toMatch(/^databases\/lite\/lite-table\.ts: decides what is not its to decide/);
  });

  it.each(Object.keys(deciding))("sees that %s no longer decides", (path) => {
    const { [path]: _, ...rest } = deciding;
    expect(shown(checkPolicies(tree(rest), policies))[0]).toMatch(/no longer shows the sign of a policy/);
  });

  it("is broken here for every policy", () => {
    expect(policies.filter(({ sign }) => !broken.some(([, code]) => sign.test(code)))).toEqual([]);
  });

  it("lets through what says the same without deciding it: comments, options that are passed on, a fast path", () => {
    const innocent = {
      ...deciding,
      "databases/lite/lite-table.ts": "// permits that are owed; retentionMs ?? 5\nconst { crashes, permitLimit } = row;",
      "databases/lite/lite-store.ts": "const { idempotencyRetentionMs: retentionMs } = options; storeOver(table, { retentionMs });",
      "databases/lite/lite-fast.ts": "const sql = `SET crashes = crashes + (owner IS NOT NULL)`;",
    };
    expect(checkPolicies(tree(innocent), policies)).toEqual([]);
    expect(checkPolicies(tree({ ...innocent, "wrappers/lite/claim.ts": "let permitsAreOwed = true;" }), policies)).toHaveLength(1);
  });
});

describe("checkKitImports", () => {
  const kit = Object.fromEntries(insideTheKit.map((name) => [`kit/${name}`, ""]));

  it.each(insideTheKit)("keeps databases out of kit/%s", (name) => {
    const database = { "databases/lite/lite-table.ts": `import { a } from "../../kit/${name}";` };
    expect(shown(checkKitImports(tree({ ...kit, ...database }), insideTheKit))).toEqual([
      `databases/lite/lite-table.ts: ../../kit/${name} is for the kit alone`,
    ]);
  });

  it("lets databases import the other files, and the kit all of its own", () => {
    const allowed = {
      "databases/lite/lite-table.ts": 'import { a } from "../../kit/execution-table.ts";',
      "kit/store-over.ts": 'import { a } from "./claims.ts";',
    };
    expect(checkKitImports(tree({ ...kit, ...allowed }), insideTheKit)).toEqual([]);
  });

  it("wants a listed file that is gone removed", () => expect(checkKitImports([], insideTheKit)).toHaveLength(insideTheKit.length));
});
