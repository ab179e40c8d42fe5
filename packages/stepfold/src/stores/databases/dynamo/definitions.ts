import type { WorkflowDefinition } from "../../../core/definition/definition.ts";
import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { type Connection, conditional, itemAt } from "./dynamo-requests.ts";
import { present } from "./dynamo-writes.ts";
import { conditionOf } from "./expression.ts";
import { dropTexts, heldIn, holdText, readText } from "./long-text.ts";

const definitionKey = "definition";

/** Keeps a definition, unless one is there. */
export async function putDefinition(connection: Connection, hash: string, text: string): Promise<void> {
  const key = { pk: connection.keys.definition(hash), sk: definitionKey };
  // starts of known workflows write nothing
  if (await itemAt(connection, key)) return;
  const owner = { pk: key.pk, incarnation: "" };
  const held = await holdText(connection, owner, text);
  const outcome = await conditional(() =>
    connection.client.put({ TableName: connection.table, Item: { ...key, ...present({ ...held }) }, ...conditionOf([["pk", "absent"]]) }),
  );
  if ("value" in outcome || held.parts === null) return;
  const stored = await itemAt(connection, key);
  // unless the answer to a first attempt was lost
  if (stored && heldIn(stored).parts !== held.parts) await dropTexts(connection, owner, [held]);
}

/** The definition with this hash. */
export async function definitionOf(connection: Connection, hash: string): Promise<WorkflowDefinition | null> {
  const pk = connection.keys.definition(hash);
  const stored = await itemAt(connection, { pk, sk: definitionKey });
  if (!stored) return null;
  const text = await readText(connection, { pk, incarnation: "" }, heldIn(stored));
  try {
    return JSON.parse(text ?? "") as WorkflowDefinition;
  } catch {
    throw new StepfoldError("STORE_REJECTED", { store: "dynamo", reason: `what is stored of the definition "${hash}" is damaged` });
  }
}
