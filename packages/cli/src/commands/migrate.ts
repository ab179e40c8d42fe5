import { exitCode } from "../exit-code.ts";
import { say } from "../output.ts";
import { chooseDatabase, type Database, openQuietly, openSite } from "../store/database.ts";
import { paintFor } from "../text/paint.ts";

/** Options of `stepfold migrate`. */
export interface MigrateOptions {
  readonly store?: string;
  readonly printSql?: boolean;
  readonly json?: boolean;
}

/** `stepfold migrate`: creates or updates the tables of a store, or prints the statements for an empty database. @returns the exit code */
export async function migrate(options: MigrateOptions): Promise<number> {
  const database = chooseDatabase(options.store);
  if (options.printSql) return printSql(database, options.json ?? false);
  const store = await openQuietly(database, { migrate: true });
  try {
    // opening a store does not wait for its tables; its first call does
    await store.list({ limit: 1 });
  } finally {
    await store.close();
  }
  const paint = paintFor(process.stdout);
  say(
    options.json
      ? `${JSON.stringify({ type: "migrated", store: database.name })}\n`
      : `${paint("good", "✔")} ${database.name} is up to date\n`,
  );
  return exitCode.done;
}

async function printSql(database: Database, json: boolean): Promise<number> {
  const site = await openSite(database);
  try {
    const steps = await site.migrations(site.space);
    if (json) say(`${JSON.stringify({ type: "migrations", store: site.name, steps: steps ?? [] })}\n`);
    else
      say(
        steps === null
          ? `-- ${site.name} has no tables to make\n`
          : `${steps.map((step) => `${step.trim().replace(/;$/, "")};`).join("\n\n")}\n`,
      );
  } finally {
    await site.close();
  }
  return exitCode.done;
}
