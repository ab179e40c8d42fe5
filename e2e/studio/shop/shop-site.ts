import { createRuntime, type Runtime } from "stepfold/runtime";
import { virtualEnvironment } from "stepfold/testing";
import { type Site, serveSite } from "../serve-site.ts";
import { type ShopAct, shopAttempts, shopBoxes, shopStory, storyEnd } from "./shop-story.ts";
import { type Boxes, shopNodes, shopWorkflows } from "./shop-workflows.ts";

const timeOf = (clock: string): number => Date.parse(`2026-11-29T${clock}.000Z`);

/** The time at which the story of the shop ends. */
export const shopNow: number = timeOf(storyEnd);

/** What of the shop differs. */
export interface ShopOptions {
  readonly folder: string;
  /** How many boxes orders have. Default: thousands. */
  readonly boxes?: Boxes;
  readonly people?: Parameters<typeof serveSite>[0]["people"];
}

/** Serves a shop after a morning of work. Its clock stands still at the end of its story, so that every run is the same. */
export async function serveShop({ folder, boxes = shopBoxes, people }: ShopOptions): Promise<Site> {
  const acts = [...shopStory].sort((a, b) => timeOf(a.at) - timeOf(b.at));
  const environment = virtualEnvironment(timeOf(acts[0]!.at));
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => void environment.after(ms, resolve));
  const { order, contentApproval, tripBooking, importing, restock } = shopWorkflows;
  const site = await serveSite({
    ...{ folder, environment, concurrency: 256, owner: "worker-2", beatMs: 30_000, ...(people && { people }) },
    workflows: [order, contentApproval, tripBooking, importing, restock],
    nodeDefinitions: shopNodes(shopAttempts, boxes, sleep),
  });
  // a process of the next release, which runs nothing here
  const elsewhere = createRuntime({ store: site.store, workflows: [], drive: false, environment });
  for (const act of acts) {
    await environment.advance(timeOf(act.at) - environment.now());
    const done = perform("start" in act && act.start === "newerOrder" ? elsewhere : site.runtime, act);
    await environment.settle();
    await done;
  }
  await environment.advance(shopNow - environment.now());
  await elsewhere.close();
  return {
    ...site,
    async close() {
      const closed = site.close();
      // what still runs has to see that it ends
      await environment.advance(60_000);
      await closed;
    },
  };
}

async function perform(runtime: Runtime, act: ShopAct): Promise<void> {
  if ("start" in act) {
    const { start, id, input, metadata } = act;
    // only the present versions have a name at the runtime
    const isNamed = start !== "olderOrder" && start !== "newerOrder";
    await runtime.start(isNamed ? shopWorkflows[start].id : shopWorkflows[start], { workflowId: id, input, metadata });
  } else if ("answer" in act) {
    const { answer, by, payload } = act;
    await (await runtime.get(answer)).resume({ payload, by, step: answer.startsWith("post") ? "review" : "approve" });
  } else if ("signal" in act) {
    await (await runtime.get(act.to)).signal(act.signal, { trip: act.key }, { key: act.key });
  } else {
    await (await runtime.get(act.cancel)).cancel({ reason: act.reason, by: act.by });
  }
}
