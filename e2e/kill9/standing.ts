import { globSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isTerminal, type Status } from "stepfold";
import type { Fleet } from "./fleet.ts";
import { readLogs } from "./log.ts";
import type { Target } from "./stored.ts";

/** The largest number of executions that are described. */
const maxShown = 20;

/** The folder of the built library, which the processes load. */
const library = fileURLToPath(new URL("../../packages/stepfold/dist", import.meta.url));

/**
 * Describes a run that does not end: its processes, the problems that they reported, and the executions that are still open.
 *
 * Every process loads the built library when it starts. If the library was rebuilt during the run, two versions have worked together,
 * or some processes have found none. The description says so.
 *
 * @param beganAt the start of the run, in milliseconds since 1970
 */
export async function standing({ members, failures }: Fleet, logs: string, target: Target, beganAt: number): Promise<string[]> {
  const { executions } = await target.readAll();
  const open = executions.filter(({ status }) => !isTerminal(status as Status));
  const problems = new Map<string, number>();
  for (const line of readLogs(logs)) {
    if (line.what !== "problem") continue;
    const what = `${line.code}: ${line.message.slice(0, 200)}`;
    problems.set(what, (problems.get(what) ?? 0) + 1);
  }
  const described = open.slice(0, maxShown).map(({ workflowId, definition, status, version, owner, rows }) => {
    const last = rows.at(-1)?.event;
    return `${workflowId} (${definition.id}) is ${status} at version ${version}, held by ${owner ?? "nobody"}; its last event: ${JSON.stringify(last)?.slice(0, 300)}`;
  });
  const built = globSync("**/*.js", { cwd: library }).filter((name) => statSync(`${library}/${name}`).mtimeMs > beganAt);
  return [
    ...(built.length > 0 ? [`built while it ran: ${built.slice(0, maxShown).join(", ")}`] : []),
    `processes: ${[...members].map(({ name, ready }) => (ready ? name : `${name} (not ready)`)).join(", ") || "none"}`,
    ...failures,
    ...[...problems].map(([what, times]) => `${times} times ${what}`),
    `${open.length} executions are open`,
    ...described,
  ];
}
