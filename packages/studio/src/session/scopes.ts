import type { ApiScope, MeView } from "stepfold/client";

/** What an action needs, in words. */
const actions: Readonly<Record<ApiScope, string>> = {
  read: "see executions",
  values: "see values",
  start: "start executions",
  answer: "answer",
  operate: "cancel, retry or restart",
  edit: "change definitions",
  admin: "administer the server",
};

/** Returns why the caller may not do what needs this scope, for `disabledReason`; null if they may. */
export function scopeReason({ id, scopes }: Pick<MeView, "id" | "scopes">, scope: ApiScope): string | null {
  return scopes.includes(scope) ? null : `${id} may not ${actions[scope]}: the scope "${scope}" is missing.`;
}
