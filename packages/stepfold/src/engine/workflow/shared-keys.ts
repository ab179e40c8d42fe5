import { undefinedSetting } from "../../core/definition/compiled-policy.ts";
import type { Template } from "../../core/definition/template.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { StartedEvent } from "../../core/snapshot/event.ts";
import { indexedOfTenant } from "../../core/values/ids/tenant.ts";
import type { Permit, Rate } from "../../core/values/shared-keys.ts";
import type { PreparedWorkflow } from "./prepared-workflow.ts";

/** The longest key, in characters. */
const maxKeyLength = 255;

/** The keys that an execution shares with others; absent if its workflow has none. */
export interface SharedKeys {
  /** The concurrency key of the execution, with its limit. */
  readonly permit?: Permit;
  /** The rate limit that the start of the execution counts for. */
  readonly rate?: Rate;
}

/**
 * Evaluates the keys that an execution shares with others, when it is about to begin.
 *
 * @throws StepfoldError `INPUT_INVALID` if the input gives no key, `EXPRESSION_FAILED`
 */
export function sharedKeysOf({ compiled }: Pick<PreparedWorkflow, "compiled">, event: StartedEvent): SharedKeys {
  const { concurrency, rateLimit, language, definition } = compiled;
  const { input, metadata, at, tenant } = event;
  const refused = (option: string, reason: string): StepfoldError => {
    const issues = [{ pointer: "", message: `gives no key for "${option}": that ${reason}` }];
    return new StepfoldError("INPUT_INVALID", { workflow: definition.id, issues });
  };
  const keyOf = (template: Template, option: "concurrency" | "rateLimit"): string => {
    const blanks: string[] = [];
    const key = template.evaluate(language.executionScope({ context: {}, since: 0, input, metadata, at }), undefined, blanks);
    if (blanks.length > 0) throw refused(option, undefinedSetting);
    const text = typeof key === "string" || typeof key === "number" || typeof key === "boolean" ? String(key) : "";
    if (text !== "" && text.length <= maxKeyLength) return indexedOfTenant(tenant, text);
    throw refused(option, `must be text of 1 to ${maxKeyLength} characters, or a number`);
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
