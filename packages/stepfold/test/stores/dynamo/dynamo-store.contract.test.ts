import { serviceUrl } from "../../../../../scripts/servers/service-url.ts";
import { contractOf } from "../../testing/store-contract.fixture.ts";
import { dynamoBench, useTable } from "./dynamo-bench.fixture.ts";

const url = await serviceUrl("dynamodb");
const table = useTable(url);

contractOf("dynamodb", {
  over: "DynamoDB Local",
  url,
  missing: "scripts/services up dynamodb",
  atOnce: 6,
  bench: async (index) => dynamoBench(await table(), `case_${index}`),
});
