export type {
  CallOptions,
  Client,
  ClientOptions,
  ExecutionCalls,
  GetOptions,
  PositionedFrame,
  StreamOptions,
  WaitsQuery,
  WatchOptions,
} from "./client.ts";
export { createClient } from "./create-client.ts";
export { idInPath, idOfPath } from "./id-in-path.ts";
export { RequestError, type RequestErrorFacts } from "./request-error.ts";
export type {
  AnswerBody,
  Applied,
  CancelBody,
  RestartBody,
  RestartReply,
  RetryBody,
  SignalBody,
  StartBody,
  StartReply,
} from "./wire/commands.ts";
export type { ApiScope, HealthView, MeView, WorkflowList, WorkflowView } from "./wire/descriptions.ts";
export type {
  CutValue,
  ExecutionFilter,
  ExecutionListQuery,
  ExecutionPage,
  ExecutionQuery,
  ExecutionView,
  HistoryPage,
  HistoryQuery,
  ListedExecution,
  RowError,
  StepView,
  WaitPage,
} from "./wire/execution-views.ts";
export type {
  EndFrame,
  EventFrame,
  HeadFrame,
  LinkFrame,
  ListFrame,
  ProblemFrame,
  ProgressFrame,
  ResetFrame,
  ServerFrame,
  StreamFrame,
  StreamQuery,
} from "./wire/frames.ts";
