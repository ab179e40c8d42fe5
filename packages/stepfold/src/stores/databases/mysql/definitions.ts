import type { WorkflowDefinition } from "../../../core/definition/definition.ts";
import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { refuseLongName } from "./long-names.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { reading, type Session, textOf, writing } from "./mysql-session.ts";
import type { Tables } from "./tables.ts";

/** @throws StepfoldError `LIMIT_EXCEEDED` if it is larger than a value may be */
export function definitionText(hash: string, definition: WorkflowDefinition, maxBytes: number): string {
  refuseLongName("The hash of a definition", hash);
  const text = JSON.stringify(definition);
  const actual = Buffer.byteLength(text);
  if (actual <= maxBytes) return text;
  throw new StepfoldError("LIMIT_EXCEEDED", { what: "The definition", limit: "mysql value in bytes", max: maxBytes, actual });
}

/** Keeps a definition, if it is not there. */
export async function putDefinition(pool: MysqlPool, tables: Tables, hash: string, text: string): Promise<void> {
  // starts of known workflows write nothing
  const known = await reading(pool, (session) => session.rows(`SELECT 1 FROM ${tables.definitions} WHERE hash = ?`, [hash]));
  if (known.length > 0) return;
  const put = `INSERT INTO ${tables.definitions} (hash, definition) VALUES (?, ?) ON DUPLICATE KEY UPDATE hash = hash`;
  await writing(pool, (session) => session.run(put, [hash, text]));
}

/** What is kept under a hash. */
export async function definitionOf(session: Session, { definitions }: Tables, hash: string): Promise<WorkflowDefinition | null> {
  const [row] = await session.rows(`SELECT CAST(definition AS BINARY) FROM ${definitions} WHERE hash = ?`, [hash]);
  return row ? (JSON.parse(textOf(row[0])) as WorkflowDefinition) : null;
}
