import { type HttpNode, httpNode } from "./http-node.ts";

export type { HttpAnswer, HttpData } from "./http-data.ts";
export { type HttpNode, type HttpNodeOptions, httpNode } from "./http-node.ts";

/** Node type `http` that calls public addresses only: `httpNode()`. */
export const http: HttpNode = httpNode();
