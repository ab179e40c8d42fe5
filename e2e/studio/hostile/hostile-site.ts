import type { Status } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { onTestFinished } from "vitest";
import { newFolder } from "../../cli.ts";
import { waitUntil } from "../browser.ts";
import { type Site, serveSite } from "../serve-site.ts";
import { type HostileName, hostileNames, hostileTexts } from "./hostile-texts.ts";
import { type HostileKind, hostileInput, hostileKinds, hostileNodes, hostileWorkflow, keyOf } from "./hostile-workflows.ts";

/** The id of an execution: the text itself, where an id may be that. */
export function hostileId(kind: HostileKind, name: HostileName): string {
  const text = hostileTexts[name];
  return /[\p{C}\p{Zl}\p{Zp}]/u.test(text) ? `${kind}-${name}` : `${text.slice(0, 230)} ${kind}`;
}

/** Where an execution of each kind stands in the end. */
const statuses: Readonly<Record<HostileKind, Status>> = {
  ...{ open: "error", runs: "active", fails: "failed", done: "completed", cancelled: "cancelled", parked: "parked", left: "active" },
};

/** Serves executions whose every text is hostile, of all kinds and texts, and people with hostile names, until the end of the test. */
export async function serveHostile(names: readonly HostileName[] = hostileNames): Promise<Site> {
  const kinds = hostileKinds.filter((kind) => kind !== "left");
  const people = ["ada", ...names.map((name) => hostileTexts[name])];
  const site = await serveSite({
    folder: newFolder(),
    workflows: names.flatMap((name) => kinds.map((kind) => hostileWorkflow(kind, name))),
    nodeDefinitions: hostileNodes,
    beatMs: 1_000,
    people: people.map((name) => ({ name })),
  });
  onTestFinished(site.close);
  const { store, runtime } = site;
  // a process without the code can start what the other one then leaves
  const left = names.map((name) => hostileWorkflow("left", name));
  const elsewhere = createRuntime({ store, workflows: left, drive: false });
  for (const name of names) {
    const start = { input: hostileInput(name), metadata: { [keyOf(name)]: hostileTexts[name], plain: hostileTexts[name] } };
    for (const kind of hostileKinds) {
      const starting = kind === "left" ? elsewhere : runtime;
      await starting.start(`${kind}-${name}`, { workflowId: hostileId(kind, name), ...start });
    }
  }
  await elsewhere.close();
  for (const name of names) await end(site, name);
  return site;
}

/** Answers, cancels, and waits until all executions of a text stand where they are to stand. */
async function end({ runtime, store }: Site, name: HostileName): Promise<void> {
  const text = hostileTexts[name];
  const done = await runtime.get(hostileId("done", name));
  await done.waitFor("paused");
  await done.resume({ step: "ask", payload: { approved: true, comment: text, list: text }, by: text });
  const cancelled = await runtime.get(hostileId("cancelled", name));
  await cancelled.waitFor("paused");
  await cancelled.cancel({ reason: text });
  for (const kind of hostileKinds)
    await waitUntil(async () => (await store.loadHead(hostileId(kind, name)))?.status === statuses[kind], `${kind} ${name}`);
  const left = await runtime.get(hostileId("left", name));
  await waitUntil(async () => (await left.explain()).noWorker !== undefined, `nobody can run left ${name}`);
}
