const act = (id: string, data: object = {}, more: object = {}): object => ({ id, type: "act", data, ...more });
const edge = (source: string, target: string, sourceHandle?: string): object => ({ source, target, ...(sourceHandle && { sourceHandle }) });

const device = { id: "device", nodes: [act("look")], edges: [] };

/**
 * A workflow with everything that an execution can wait for: retries, a timer, an approval with a deadline, branches, a map and its
 * items.
 */
const release = {
  id: "release",
  nodes: [
    act("build", { fails: 1 }, { retryPolicy: { maxAttempts: 3, interval: "300ms", backoff: "fixed" } }),
    { id: "sign", type: "approval", data: { message: "Release it?", timeout: "1h" } },
    { id: "test", type: "map", data: { workflow: "device", items: "{{ input.devices }}" } },
    { id: "rest", type: "wait", data: { for: "500ms" } },
    act("ship", {}, { join: "all" }),
  ],
  edges: [
    edge("build", "sign"),
    edge("build", "test"),
    edge("build", "rest"),
    edge("sign", "ship", "approved"),
    edge("test", "ship"),
    edge("rest", "ship"),
  ],
  workflows: { device },
  output: "{{ input.devices.length }} devices",
};

export const guestFlows: readonly unknown[] = [release];
