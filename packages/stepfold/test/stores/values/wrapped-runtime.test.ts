import { afterEach, describe, expect, it } from "vitest";
import { memoryStore } from "../../../src/stores/databases/memory/index.ts";
import { blobbedStore } from "../../../src/stores/wrappers/blobs/index.ts";
import { compressedStore } from "../../../src/stores/wrappers/compressed/index.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/index.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, line, setUp } from "../../runtime/runtime.fixture.ts";
import { memoryBlobs } from "./values.fixture.ts";

afterEach(closeAll);

describe("a runtime", () => {
  it("runs on stores that wrap others as on any other", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    const keys = [{ id: "k", key: new Uint8Array(32).fill(1) }];
    const encrypted = encryptedStore(blobbedStore(inner, memoryBlobs(), { aboveBytes: 200 }), { keys });
    const store = compressedStore(encrypted, { aboveBytes: 100 });
    const { runtime } = setUp({ store, workflows: [line("review", "say", "ask", "say")] }, environment);
    const run = await runtime.start("review", { workflowId: "a", input: { text: "canary ".repeat(100) }, metadata: { team: "canary" } });
    expect(await run.settled()).toMatchObject({ status: "paused", metadata: { team: "canary" } });
    await run.resume({ payload: { approved: true, note: "canary" } });
    expect(await run.result()).toEqual({ text: "say" });
    expect(JSON.stringify([await inner.load("a"), await inner.events("a", -1, 100), await inner.list()])).not.toContain("canary");
  });
});
