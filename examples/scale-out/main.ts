// start COUNT: starts invoices and waits until all are filed. work: drives invoices until Ctrl-C or SIGTERM.
const { open } = process.env.DATABASE_URL === undefined ? await import("./one.ts") : await import("./many.ts");
const { runtime, close } = await open();
const [verb, count = "10"] = process.argv.slice(2);

if (verb === "work") {
  console.log("working");
  await new Promise((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
} else {
  const numbers = Array.from({ length: Number(count) }, (_, index) => index + 1);
  const runs = await Promise.all(numbers.map((number) => runtime.start("invoice", { workflowId: `invoice-${number}`, input: { number } })));
  const filed = await Promise.all(runs.map((run) => run.result()));
  console.log(`${filed.length} done, the last: ${filed.at(-1)}`);
}

await close();
