import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ServiceName, serviceUrl } from "../scripts/servers/service-url.ts";
import { cli, jsonLines, newFolder, type Place, startCli } from "./cli.ts";
import { notTested } from "./kill9/not-tested.ts";
import { queueTargets } from "./kill9/queue-targets.ts";

const workflow = {
  id: "two",
  nodes: [
    { id: "rest", type: "wait", data: { for: "1s" } },
    { id: "note", type: "set", data: "done" },
  ],
  edges: [{ source: "rest", target: "note" }],
};

function place(): Place {
  const cwd = newFolder();
  writeFileSync(join(cwd, "stepfold.config.mjs"), `export default { workflows: [${JSON.stringify(workflow)}] };`);
  return { cwd, env: { STEPFOLD_LEASE_MS: "1000" } };
}

const queues: readonly { readonly target: string; readonly server: ServiceName; readonly name: string }[] = [
  ...(["rabbitmq", "nats", "sqs"] as const).map((name) => ({ target: name, server: name, name })),
  { target: "bullmq", server: "redis", name: "bullmq" },
  { target: "bullmq-postgres", server: "postgres", name: "bullmq" },
  { target: "pg-boss", server: "postgres", name: "pg-boss" },
];

describe.each(queues)("--queue with $target", ({ target: made, server, name }) => {
  it("gives a worker its queue, and doctor looks whether it takes messages", async ({ skip, onTestFinished }) => {
    if ((await serviceUrl(server)) === null) notTested(`no server answers for ${server}: scripts/services up`, skip);
    const target = (await queueTargets[made]!())!;
    onTestFinished(() => target.drop());
    const where = place();
    const worker = startCli(["worker", "--queue", target.url, "--json"], where);
    await worker.saw('"working"');
    const run = startCli(["run", "two", "--id", "a"], where);
    await run.saw("rest");
    run.child.kill("SIGKILL");
    await worker.saw('"completed"');
    worker.child.kill("SIGTERM");
    const { code, stdout, stderr } = await worker.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(jsonLines(stdout)[0]).toMatchObject({ type: "working", queue: name });
    expect(stdout).not.toContain('"problem"');
    const examined = await cli(["doctor", "--quick", "--queue", target.url], where);
    expect(examined).toMatchObject({ code: 0, stdout: expect.stringContaining(`✔ ${name} takes messages`) });
  });
});

describe("--queue", () => {
  it("refuses what names no queue, and says which there are", async () => {
    const { code, stderr } = await cli(["worker", "--queue", "mail://ada:hunter2@host"], place());
    expect(code).toBe(2);
    expect(stderr).toContain('"mail:"');
    expect(stderr).toContain("amqp");
    expect(stderr).not.toContain("hunter2");
  });

  it("refuses what cannot work before it begins, and says what to do", async () => {
    const refused: readonly (readonly [url: string, told: string])[] = [
      ["bullmq:mysql://127.0.0.1/app", "bullmq:redis://… or bullmq:postgres://…"],
      ["sqs:http://127.0.0.1:4566/000000000000/stepfold", "add ?region=eu-central-1, or set AWS_REGION"],
    ];
    for (const [url, told] of refused) {
      const { cwd, env } = place();
      const { code, stderr } = await cli(["worker", "--queue", url], { cwd, env: { ...env, AWS_REGION: "", AWS_CONFIG_FILE: cwd } });
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(told) });
    }
  });

  it.for<{ server: ServiceName; url: (host: string) => string }>([
    { server: "rabbitmq", url: (host) => `amqp://ada:hunter2@${host}` },
    { server: "redis", url: (host) => `bullmq:redis://ada:hunter2@${host}` },
    { server: "postgres", url: (host) => `bullmq:postgres://ada:hunter2@${host}/app` },
    { server: "postgres", url: (host) => `pg-boss:postgres://ada:hunter2@${host}/app` },
  ])("says at once that $server refuses the login", async ({ server, url }, { skip }) => {
    const at = await serviceUrl(server);
    if (at === null) return notTested(`no server answers for ${server}: scripts/services up`, skip);
    const { code, stderr } = await cli(["worker", "--queue", url(new URL(at).host)], place());
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("QUEUE_REJECTED") });
    expect(stderr).not.toContain("hunter2");
  });

  it("says that a server does not answer, without its password", async () => {
    const { code, stderr, stdout } = await cli(["doctor", "--quick", "--queue", "amqp://ada:hunter2@127.0.0.1:1"], place());
    expect(code).not.toBe(0);
    expect(stdout + stderr).not.toContain("hunter2");
  });
});
