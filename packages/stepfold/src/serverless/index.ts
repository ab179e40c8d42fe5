export type { FetchHandler } from "../http/fetch-handler.ts";
export { handle, type ServerlessHandlers, type ServerlessOptions } from "./handle.ts";
export type { LambdaContext, LambdaHandler, SqsBatchResponse } from "./lambda-handler.ts";
