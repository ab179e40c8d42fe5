import { describe, expect, it, vi } from "vitest";
import { restateWorld } from "./restate.fixture.ts";

const devices = ["phone", "tablet", "watch"];
const start = { workflow: "release", input: { devices } };
const approve = { type: "resume", target: "sign", payload: { approved: true } };

/** Returns the effects of an execution of `release`: each node once, and the map's node once per device. */
function effectsOf(workflowId: string): [string, number][] {
  return [
    [`${workflowId}/build`, 1],
    [`${workflowId}/look`, devices.length],
    [`${workflowId}/ship`, 1],
  ];
}

describe("a guest on Restate's server", () => {
  it("is retried, pauses, goes branches and is resumed", async ({ skip }) => {
    const world = await restateWorld(skip);
    await world.start("one", start);
    await world.waitsAt("one", "sign");
    await world.send("one", approve);
    expect(await world.end("one")).toEqual({ workflowId: "one", status: "completed", output: "3 devices" });
    expect([...world.effects]).toEqual(effectsOf("one"));
  });

  it("takes messages that were sent at once, each once, and is cancelled by one", async ({ skip }) => {
    const world = await restateWorld(skip);
    await world.start("two", start);
    await world.waitsAt("two", "sign");
    const wrong = [1, 2, 3].map((n) => world.send("two", { type: "resume", target: "sign", payload: { approved: `no ${n}` } }));
    await Promise.all([...wrong, world.send("two", { type: "signal", name: "none" })]);
    await world.send("two", { type: "cancel", reason: "not now" });
    expect(await world.end("two")).toMatchObject({ status: "cancelled" });
    await vi.waitFor(() => expect(world.effects.get("two/refused RESUME_INVALID")).toBe(3));
  });

  it("goes on after its server and its service were killed, while a step waits for its time", async ({ skip }) => {
    const world = await restateWorld(skip);
    await world.start("three", start);
    await world.waitsAt("three", "sign");
    await world.send("three", approve);
    await Promise.all([world.server.kill(), world.service.kill()]);
    world.server.start();
    world.service.start();
    expect(await world.end("three")).toMatchObject({ status: "completed", output: "3 devices" });
    expect([...world.effects].sort()).toEqual(effectsOf("three"));
  });
});
