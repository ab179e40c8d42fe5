import { describe, expect, it } from "vitest";
import { effort } from "../../../../scripts/test/effort.ts";
import { isTerminal, type Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { wakeAt } from "../../src/core/transition/draft/draft-status.ts";
import { openDraft } from "../../src/core/transition/draft/open-draft.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { createGuest, type Guest } from "../../src/guest/create-guest.ts";
import type { GuestEnd } from "../../src/guest/host.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { type Effects, type Flow, flowNodes, flows } from "./guest-flows.fixture.ts";
import { JournalHost, type Misfortune } from "./journal-host.fixture.ts";
import { randomFlow } from "./random-flow.fixture.ts";

const graphs = Math.ceil(effort.graphs / 20);

interface Ran {
  readonly end: GuestEnd;
  readonly effects: Effects;
  readonly host: JournalHost;
}

async function asGuest({ workflow, more = [], input, script }: Flow, misfortune: Misfortune = {}): Promise<Ran> {
  const effects: Effects = new Map();
  const host = new JournalHost(script, misfortune);
  const guestOf = (environment: VirtualEnvironment): Guest =>
    createGuest({ workflows: [workflow, ...more], nodeDefinitions: flowNodes(effects, environment), environment });
  const end = await host.run(guestOf, { workflow: workflow.id, workflowId: "run-1", ...(input !== undefined && { input }) });
  return { end, effects, host };
}

/** Runs the flow in the classic engine, with each message at its time, and each timer and retry when it is due. */
async function inEngine({ workflow, more = [], input, script = [] }: Flow): Promise<Pick<Ran, "end" | "effects">> {
  const effects: Effects = new Map();
  const clock = virtualEnvironment();
  const beginning = clock.now();
  const engine = new WorkflowEngine({ workflow, workflows: more, nodeDefinitions: flowNodes(effects, clock), environment: clock });
  const driven = async (working: Promise<Snapshot>): Promise<Snapshot> => {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    working.then(end, end);
    await clock.settle();
    while (!isOver) await clock.advance(10);
    return working;
  };
  let snapshot = await driven(engine.execute({ workflowId: "run-1", input }));
  const left = [...script];
  while (!isTerminal(snapshot.status)) {
    const at = wakeAt(openDraft(engine.workflow, snapshot));
    const [next] = left;
    if (next && (at === null || beginning + next.atMs <= at)) {
      left.shift();
      await clock.advance(Math.max(0, beginning + next.atMs - clock.now()));
      snapshot = await engine.send(snapshot, next.command).catch(() => snapshot);
    } else await clock.advance(Math.max(0, at! - clock.now()));
    // one call performs at most 1,000 steps
    snapshot = await driven(engine.execute({ snapshot, stepLimit: 1_000 }));
  }
  const { workflowId, status, output, error } = snapshot;
  const end = { workflowId, status, ...(output !== undefined && { output }), ...(error && { error }) } as GuestEnd;
  return { end, effects };
}

const sum = (effects: Effects): number => [...effects.values()].reduce((all, times) => all + times, 0);

describe.each(Object.entries(flows))("as a guest, %s", (_, flow) => {
  it("end as in the engine, with the same effects", async () => {
    const [guest, engine] = await Promise.all([asGuest(flow), inEngine(flow)]);
    expect(guest.end).toEqual(JSON.parse(JSON.stringify(engine.end)));
    expect(guest.effects).toEqual(engine.effects);
  });

  it("end the same if the process is killed at any point, and only what was lost is done again", async () => {
    const whole = await asGuest(flow);
    expect(whole.host.points).toBeGreaterThan(5);
    for (let point = 0; point < whole.host.points; point++) {
      const { end, effects, host } = await asGuest(flow, { killsAt: new Set([point]) });
      expect({ point, kills: host.kills, end }).toEqual({ point, kills: 1, end: whole.end });
      expect([...effects.keys()].sort()).toEqual([...whole.effects.keys()].sort());
      expect(sum(effects) - sum(whole.effects)).toBeLessThanOrEqual(host.lost);
    }
  });

  it("end the same if the process is killed again and again, and everything comes twice", async () => {
    const whole = await asGuest(flow);
    const killsAt = new Set(Array.from({ length: 1_000 }, (_, i) => i * 11 + (i % 5)));
    const { end, effects, host } = await asGuest(flow, { killsAt, doubles: true });
    expect(end).toEqual(whole.end);
    expect([...effects.keys()].sort()).toEqual([...whole.effects.keys()].sort());
    expect(host.kills).toBeGreaterThan(0);
  });
});

describe("as guests, random workflows", () => {
  it("end as in the engine, with the same effects, also if the process is killed again and again", async () => {
    for (let seed = 1; seed <= graphs; seed++) {
      const flow = randomFlow(seed);
      const killsAt = new Set(Array.from({ length: 300 }, (_, i) => i * 17 + (seed % 17)));
      const [guest, killed, engine] = await Promise.all([asGuest(flow), asGuest(flow, { killsAt }), inEngine(flow)]);
      expect({ seed, end: guest.end }).toEqual({ seed, end: JSON.parse(JSON.stringify(engine.end)) });
      expect({ seed, effects: guest.effects }).toEqual({ seed, effects: engine.effects });
      expect({ seed, end: killed.end }).toEqual({ seed, end: guest.end });
      expect([...killed.effects.keys()].sort()).toEqual([...engine.effects.keys()].sort());
      expect(sum(killed.effects) - sum(engine.effects)).toBeLessThanOrEqual(killed.host.lost);
    }
  });
});
