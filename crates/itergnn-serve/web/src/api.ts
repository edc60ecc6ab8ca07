// The JSON interface, typed. Field by field as in openapi.json.

export interface Model {
  name: string;
  from: "models" | "built-in" | "runs";
  task: string;
  network: string;
  family: string;
  architecture: string;
  built_in: string;
  parameters: number;
  seed: number;
  solves: string[];
}

export interface Graph {
  nodes: number;
  edges: [number, number][];
  weights: number[];
  undirected: boolean;
}

export interface HeightMap {
  rows: number;
  columns: number;
  heights: number[];
  blocked_above: number;
}

export interface Sample {
  graph?: Graph;
  positions?: [number, number][];
  map?: HeightMap;
  from: number;
  to: number;
  notes?: string[];
}

export interface View {
  low: number;
  high: number;
  data: string;
}

export interface TraceStep {
  step: number;
  confidence: number | null;
  remaining: number | null;
  change: number | null;
  changed: number;
}

export interface Trace {
  prediction: number | null;
  iterations: number;
  capped: boolean;
  channels: number;
  steps: TraceStep[];
  views: { steps: number[]; norm: View; change: View; channel: View };
}

export interface Solution {
  path: number[] | null;
  why: string | null;
  length: number | null;
  predicted_length: number | null;
  iterations: number;
  predictions: number;
  capped: number;
  exact: { path: number[]; length: number; hops: number } | null;
  optimal: boolean;
}

export interface Move {
  action: string;
  ate: boolean;
  at: [number, number];
  values: number[] | null;
  iterations: number;
}

export interface Play {
  moves: Move[];
  rows: string[];
  over: boolean;
}

export interface Game {
  rows: string[];
  reachable: number;
  step_limit: number;
}

export interface Run {
  name: string;
  task: string | null;
  model: string | null;
  seed: number | null;
  finished: boolean;
  has_model: boolean;
  changed: number | null;
}

export interface RunDetails extends Run {
  config: string | null;
  result: unknown;
  starts: unknown;
}

/** What a path is looked for in. */
export type Scene = { graph: Graph } | { map: HeightMap };

/** A request that was refused, with the server's own line. */
export class Refused extends Error {
  constructor(message: string, readonly status: number) {
    super(message);
  }
}

async function answer<T>(response: Response): Promise<T> {
  if (response.ok) {
    return (await response.json()) as T;
  }
  let message = `the server answered ${response.status}`;
  try {
    message = ((await response.json()) as { error: string }).error;
  } catch {
    // Not JSON: the status says enough.
  }
  throw new Refused(message, response.status);
}

export async function get<T>(path: string): Promise<T> {
  return answer<T>(await fetch(path));
}

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  if (signal) {
    init.signal = signal;
  }
  return answer<T>(await fetch(path, init));
}

export async function upload(file: File): Promise<Sample> {
  const path = `/api/read?name=${encodeURIComponent(file.name)}`;
  const headers = { "Content-Type": "application/octet-stream" };
  return answer<Sample>(await fetch(path, { method: "POST", headers, body: file }));
}

/** The bytes of a view, one per node and kept step. */
export function bytesOf(view: View): Uint8Array {
  const text = atob(view.data);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    bytes[at] = text.charCodeAt(at);
  }
  return bytes;
}
