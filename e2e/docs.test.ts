import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { PGlite } from "@electric-sql/pglite";
import { createClient } from "@libsql/client";
import { createPool } from "mysql2/promise";
import { migrateLibsql } from "stepfold/stores/libsql";
import { migrateMysql } from "stepfold/stores/mysql";
import { migratePostgres } from "stepfold/stores/postgres";
import { sqliteStore } from "stepfold/stores/sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DocBlock, docBlocks } from "../scripts/docs/doc-blocks.ts";
import { given, modules } from "../scripts/docs/given.ts";
import { serviceUrlOrSkip } from "../scripts/servers/service-url.ts";
import { newFolder, root } from "./cli.ts";

const execute = promisify(execFile);
// in the repository, so that the packages are found
const folder = mkdtempSync(join(root, "e2e", ".docs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = ({ page, line }: DocBlock): string => `${page.replace(/\.md$/, "").replaceAll(/\W/g, "-")}-${line}.ts`;
const named = (blocks: readonly DocBlock[]): [string, DocBlock][] => blocks.map((block) => [`${block.page}:${block.line}`, block]);

/** Returns the output that the comments after `console.log` promise, one line per comment. */
function promised(code: string): string {
  return [...code.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, output = ""]) => `${output}\n`).join("");
}

describe("programs in the docs", () => {
  const programs = docBlocks("ts");
  beforeAll(() => {
    mkdirSync(join(folder, "run"));
    for (const block of programs) writeFileSync(join(folder, "run", fileOf(block)), block.code);
  });

  it("have a whole flow in the first 15 lines of the README", () => {
    expect(readFileSync(join(root, "README.md"), "utf8").split("\n").slice(0, 15).join("\n")).toContain(programs[0]!.code);
  });

  it.concurrent.each(named(programs))("%s runs as pasted and prints what it says", async (_, block) => {
    const { stdout } = await execute(process.execPath, [join(folder, "run", fileOf(block))], { cwd: join(folder, "run") });
    expect(stdout).toBe(promised(block.code));
  });
});

describe("all code in the docs", () => {
  it("compiles with strict types, fragments with what they take as given", async () => {
    const blocks = [...docBlocks("ts"), ...docBlocks("ts fragment")];
    expect(blocks.length).toBeGreaterThan(100);
    const compiled = join(folder, "compile");
    mkdirSync(compiled);
    for (const [name, code] of Object.entries({ ...modules, "given.ts": given })) writeFileSync(join(compiled, name), code);
    // the last line makes a module of each, so that names of one are not known in another one
    for (const block of blocks) writeFileSync(join(compiled, fileOf(block)), `${block.code}export {};\n`);
    const compilerOptions = {
      ...{ module: "nodenext", target: "es2023", lib: ["es2023", "dom", "dom.iterable", "esnext.disposable"], types: ["node"] },
      ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, allowImportingTsExtensions: true },
      ...{ noEmit: true, skipLibCheck: true },
    };
    const include = ["*.ts", "../../cloudflare-workers.d.ts"];
    writeFileSync(join(compiled, "tsconfig.json"), JSON.stringify({ compilerOptions, include }));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const told = await execute(process.execPath, [tsc, "-p", "."], { cwd: compiled }).catch(
      (error: unknown) => error as { stdout: string },
    );
    expect(told.stdout).toBe("");
  });
});

describe("queries in the docs", () => {
  const of = (page: string): [string, DocBlock][] => named(docBlocks("sql").filter((block) => block.page === page));

  it("are all of a page whose database is asked here", () => {
    const pages = ["sqlite", "libsql", "postgres", "mysql"].map((name) => `docs/stores/${name}.md`);
    expect(docBlocks("sql").filter(({ page }) => !pages.includes(page))).toEqual([]);
  });

  it.each(of("docs/stores/sqlite.md"))("%s runs", async (_, { code }) => {
    const path = join(newFolder(), "workflows.db");
    const store = sqliteStore(path);
    await store.now();
    using database = new DatabaseSync(path);
    expect(database.prepare(code).all()).toEqual([]);
    await store.close();
  });

  it.each(of("docs/stores/libsql.md"))("%s runs", async (_, { code }) => {
    const client = createClient({ url: `file:${join(newFolder(), "workflows.db")}` });
    await migrateLibsql(client);
    expect((await client.execute(code)).rows).toEqual([]);
    client.close();
  });

  it.each(of("docs/stores/postgres.md"))("%s runs", async (_, { code }) => {
    const client = new PGlite();
    await migratePostgres(client);
    expect((await client.query(code)).rows).toEqual([]);
    await client.close();
  });

  it.each(of("docs/stores/mysql.md"))("%s runs", async (_, { code }) => {
    const url = await serviceUrlOrSkip("mariadb");
    if (url === null) return;
    const admin = createPool({ uri: url, connectionLimit: 1 });
    const name = `docs_${process.pid}`;
    await admin.query(`CREATE DATABASE ${name}`);
    const pool = createPool({
      uri: Object.assign(new URL(url), { pathname: `/${name}` }).href,
      multipleStatements: true,
      connectionLimit: 1,
    });
    try {
      await migrateMysql(pool);
      const [results] = await pool.query(code);
      expect([results].flat(2).filter((row) => !("affectedRows" in row))).toEqual([]);
    } finally {
      await pool.end();
      await admin.query(`DROP DATABASE ${name}`);
      await admin.end();
    }
  });
});
