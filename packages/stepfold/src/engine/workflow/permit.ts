import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { StartedEvent } from "../../core/snapshot/event.ts";
import type { Permit } from "../../core/snapshot/snapshot.ts";
import { indexedOfTenant } from "../../core/values/tenant.ts";
import type { PreparedWorkflow } from "./prepared-workflow.ts";

const maxKeyLength = 255;

/**
 * The concurrency key and limit of an execution that is about to begin; undefined if its workflow has no `concurrency`.
 *
 * @throws StepfoldError `INPUT_INVALID` if the input gives no key, `EXPRESSION_FAILED`
 */
export function permitOf({ compiled }: Pick<PreparedWorkflow, "compiled">, event: StartedEvent): Permit | undefined {
  const { concurrency, language, definition } = compiled;
  if (!concurrency) return undefined;
  const { input, metadata, at } = event;
  const key = concurrency.key.evaluate(language.executionScope({ context: {}, since: 0, input, metadata, at }));
  const text = typeof key === "string" || typeof key === "number" || typeof key === "boolean" ? String(key) : "";
  if (text === "" || text.length > maxKeyLength) {
    const message = `gives no key for "concurrency": that must be text of 1 to ${maxKeyLength} characters, or a number`;
    throw new StepfoldError("INPUT_INVALID", { workflow: definition.id, issues: [{ pointer: "", message }] });
  }
  return Object.freeze({ key: indexedOfTenant(event.tenant, text), limit: concurrency.limit });
}
