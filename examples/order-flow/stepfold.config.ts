import { defineConfig } from "@stepfold/cli";
import { defineNode } from "stepfold";
import { httpNode } from "stepfold/nodes/http";
import { openShop } from "./shop.ts";

interface Item {
  readonly price: number;
  readonly count: number;
}

/** A custom node type that adds up the cost of the order. */
const priceOrder = defineNode({
  input: { type: "object", properties: { items: { type: "array" } }, required: ["items"] },
  executor(data) {
    const { items } = data as { items: readonly Item[] };
    const net = items.reduce((sum, { price, count }) => sum + price * count, 0);
    return { data: { net, total: Math.round(net * 119) / 100 } };
  },
});

export default defineConfig({
  nodeDefinitions: { "price-order": priceOrder, http: httpNode({ allowHosts: ["127.0.0.1"] }) },
  globals: async ({ dataFolder }) => {
    const shop = await openShop(dataFolder);
    return { globals: { shop: { url: shop.url, token: process.env.SHOP_TOKEN ?? "shop-secret" } }, close: shop.close };
  },
});
