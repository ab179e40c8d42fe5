import type { Event } from "stepfold";
import type { Problems } from "./check-execution.ts";
import { race } from "./code-names.ts";
import type { StoredExecution } from "./stored.ts";

/** Checks executions of code: each step that the code has asked for has one result, and each race has one winner, the step that was first. */
export function checkCode(executions: readonly StoredExecution[], { doubled, wrong }: Problems): void {
  for (const { workflowId, rows } of executions) {
    const events = rows.map(({ event }) => event);
    checkResults(events, (what) => doubled.push(`${workflowId}: ${what}`));
    checkRaces(events, (what) => wrong.push(`${workflowId}: ${what}`));
  }
}

/** Checks that no step has a second result, unless a restart has opened it again. */
function checkResults(events: readonly Event[], doubled: (what: string) => unknown): void {
  const known = new Map<string, number>();
  for (const event of events) {
    if (event.type === "restarted") for (const address of openedBy(event)) known.delete(address);
    for (const address of resultsIn(event)) {
      const before = known.get(address);
      if (before !== undefined) doubled(`step ${address} has a result at version ${before}, and another one at version ${event.version}`);
      known.set(address, event.version);
    }
  }
}

/** The addresses of the steps to which an event gives a result for good. */
function resultsIn(event: Event): readonly string[] {
  const others = "consequences" in event ? (event.consequences?.results ?? []) : [];
  const given = others.map(({ scope, result }) => addressOf(scope, result.pathId));
  const isFinal = event.type === "completed" || (event.type === "failed" && event.retryAt === null && event.incident !== true);
  if (isFinal && event.undoes === undefined) given.push(addressOf(event.scope, event.pathId));
  // the path of the code itself has no dot in its name; it has as many results as it has failures
  return given.filter((address) => address.slice(address.lastIndexOf(">")).includes("."));
}

function openedBy({ state }: Event & { readonly type: "restarted" }): readonly string[] {
  const scopes = [
    ["", state.activePaths] as const,
    ...Object.entries(state.childStates ?? {}).map(([key, child]) => [key, child.activePaths] as const),
  ];
  return scopes.flatMap(([scope, paths]) => paths.map(({ id }) => addressOf(scope, id)));
}

function addressOf(scope: string | undefined, pathId: string): string {
  return `${scope ?? ""}>${pathId}`;
}

/** Checks that the code took the first of the steps that race for the winner. */
function checkRaces(events: readonly Event[], wrong: (what: string) => unknown): void {
  const completed = events.flatMap((event) => (event.type === "completed" && event.undoes === undefined ? [event] : []));
  const first = completed.find(({ nodeId }) => (race.contenders as readonly string[]).includes(nodeId));
  for (const { nodeId, output, version } of completed) {
    if (nodeId !== race.judge) continue;
    const { winner } = output as { readonly winner: string };
    const { key } = (first?.output ?? {}) as { readonly key?: string };
    if (winner !== key) wrong(`at version ${version} the winner is ${winner}, and ${key} was first`);
  }
}
