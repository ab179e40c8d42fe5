import type { Template } from "../../core/definition/template.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { StartedEvent } from "../../core/snapshot/event.ts";
import type { Permit, Rate } from "../../core/values/shared-keys.ts";
import { indexedOfTenant } from "../../core/values/tenant.ts";
import type { PreparedWorkflow } from "./prepared-workflow.ts";

const maxKeyLength = 255;

/** What executions share with others: undefined where their workflow says nothing. */
export interface SharedKeys {
  /** Its concurrency key and limit. */
  readonly permit?: Permit;
  /** The rate that its beginning counts for. */
  readonly rate?: Rate;
}

/**
 * What an execution that is about to begin shares with others.
 *
 * @throws StepfoldError `INPUT_INVALID` if the input gives no key, `EXPRESSION_FAILED`
 */
export function sharedKeysOf({ compiled }: Pick<PreparedWorkflow, "compiled">, event: StartedEvent): SharedKeys {
  const { concurrency, rateLimit, language, definition } = compiled;
  const { input, metadata, at, tenant } = event;
  const keyOf = (template: Template, option: "concurrency" | "rateLimit"): string => {
    const key = template.evaluate(language.executionScope({ context: {}, since: 0, input, metadata, at }));
    const text = typeof key === "string" || typeof key === "number" || typeof key === "boolean" ? String(key) : "";
    if (text !== "" && text.length <= maxKeyLength) return indexedOfTenant(tenant, text);
    const message = `gives no key for "${option}": that must be text of 1 to ${maxKeyLength} characters, or a number`;
    throw new StepfoldError("INPUT_INVALID", { workflow: definition.id, issues: [{ pointer: "", message }] });
  };
  const permit = concurrency && Object.freeze({ key: keyOf(concurrency.key, "concurrency"), limit: concurrency.limit });
  const rate =
    rateLimit &&
    Object.freeze({
      key: rateLimit.key ? keyOf(rateLimit.key, "rateLimit") : indexedOfTenant(tenant, definition.id),
      limit: rateLimit.limit,
      periodMs: rateLimit.periodMs,
    });
  return { ...(permit && { permit }), ...(rate && { rate }) };
}
