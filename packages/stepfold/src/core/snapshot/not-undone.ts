import { belongsTo, parentKey } from "./address.ts";
import type { CompensationResult, UndoneStep } from "./snapshot.ts";

/** Returns the steps that could not be undone. For each step the compensation that was performed last counts. */
export function notUndone(compensations: readonly CompensationResult[] = []): (UndoneStep & { readonly error: string })[] {
  if (!compensations.some(({ error }) => error !== undefined)) return [];
  return lastResults(compensations).flatMap(({ nodeId, undoes, error }) => (error === undefined ? [] : [{ ...undoes, nodeId, error }]));
}

/** Returns the steps that were undone. For each step the compensation that was performed last counts. */
export function undoneSteps(compensations: readonly CompensationResult[] = []): UndoneStep[] {
  return lastResults(compensations).flatMap(({ nodeId, undoes, error }) => (error === undefined ? [{ ...undoes, nodeId }] : []));
}

function lastResults(compensations: readonly CompensationResult[]): CompensationResult[] {
  const last = new Map<string, CompensationResult>();
  for (const result of compensations) {
    const { nodeId, undoes } = result;
    const name = JSON.stringify([undoes.scope, undoes.pathId, undoes.version, nodeId, undoes.acted?.visit, undoes.acted?.by]);
    last.delete(name);
    last.set(name, result);
  }
  return [...last.values()];
}

/** Returns the keys of the children in which something could not be undone, and of the children around them. */
export function scopesNotUndone(compensations: readonly CompensationResult[]): ReadonlySet<string> {
  const scopes = new Set<string>();
  for (const { scope = "" } of notUndone(compensations)) {
    for (let key = scope; key !== "" && !scopes.has(key); key = parentKey(key)) scopes.add(key);
  }
  return scopes;
}

/** True if a step in a child, or in a child inside it, could not be undone. */
export function isNotUndone(compensations: readonly CompensationResult[], key: string): boolean {
  const mayBe = compensations.some(({ error, undoes: { scope } }) => error !== undefined && scope !== undefined && belongsTo(scope, key));
  return mayBe && scopesNotUndone(compensations).has(key);
}
