import { belongsTo } from "./address.ts";
import type { CompensationResult, UndoneStep } from "./snapshot.ts";

/** What could not be undone: of every step the compensation that was performed last counts. */
export function notUndone(compensations: readonly CompensationResult[] = []): (UndoneStep & { readonly error: string })[] {
  if (!compensations.some(({ error }) => error !== undefined)) return [];
  const last = new Map<string, CompensationResult>();
  for (const result of compensations) {
    const { nodeId, undoes } = result;
    const name = JSON.stringify([undoes.scope, undoes.pathId, undoes.version, nodeId]);
    last.delete(name);
    last.set(name, result);
  }
  return [...last.values()].flatMap(({ nodeId, undoes, error }) => (error === undefined ? [] : [{ ...undoes, nodeId, error }]));
}

/** Whether something that happened in a scope, or in a child inside it, could not be undone. */
export function isNotUndone(compensations: readonly CompensationResult[], key: string): boolean {
  if (!compensations.some(({ error }) => error !== undefined)) return false;
  return notUndone(compensations).some(({ scope }) => scope !== undefined && belongsTo(scope, key));
}
