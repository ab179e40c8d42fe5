import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import type { Connection } from "./connection.ts";
import { plainText } from "./plain-text.ts";

/** Keeps a definition, if it is not there. */
export async function putDefinition({ ask, sql }: Connection, hash: string, definition: WorkflowDefinition): Promise<void> {
  await ask(sql.putDefinition, [plainText(hash), JSON.stringify(definition)]);
}

/** What is kept under a hash. */
export async function definitionOf({ ask, sql }: Connection, hash: string): Promise<WorkflowDefinition | null> {
  const [row] = await ask(sql.definition, [plainText(hash)]);
  return row ? (JSON.parse(row.definition!) as WorkflowDefinition) : null;
}
