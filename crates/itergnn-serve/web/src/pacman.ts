// The page of Pacman: watch a player, or play.

import { post, type Game, type Model, type Move, type Play } from "./api.js";
import { theme } from "./colours.js";
import { byId, fillSelect, keepDrawn, make, number, prepare, say, sayError } from "./dom.js";

const YOU = "you";
/** Moves that are asked for at a time while watching. */
const AHEAD = 12;
const NAMES = ["left", "right", "up", "down"];

let rows: string[] = [];
/** What the server's answer leads to, while its moves are shown one by one. */
let ahead: Move[] = [];
let game: Game | null = null;
let eaten = 0;
let moves = 0;
let timer = 0;
let busy = false;
let over = false;
/** Places since the last meal: a player that comes back without having eaten goes round and round. */
let visited = new Set<string>();
let last: Move | null = null;

function canvas(): HTMLCanvasElement {
  return byId<HTMLCanvasElement>("pacman-board");
}

function player(): string {
  return byId<HTMLSelectElement>("pacman-player").value;
}

function agent(): [number, number] {
  const y = rows.findIndex((row) => row.includes("@"));
  return [y < 0 ? 0 : rows[y]!.indexOf("@"), Math.max(y, 0)];
}

function put(x: number, y: number, symbol: string): void {
  const row = rows[y];
  if (row !== undefined) {
    rows[y] = row.slice(0, x) + symbol + row.slice(x + 1);
  }
}

function draw(): void {
  const { context, width, height } = prepare(canvas());
  if (width === 0 || rows.length === 0) {
    return;
  }
  context.clearRect(0, 0, width, height);
  const side = rows.length;
  const cell = Math.min(width, height) / side;
  const [left, top] = [(width - cell * side) / 2, (height - cell * side) / 2];
  context.fillStyle = theme("board");
  context.fillRect(left, top, cell * side, cell * side);
  rows.forEach((row, y) => {
    [...row].forEach((symbol, x) => {
      const [px, py] = [left + x * cell, top + y * cell];
      if (symbol === "#") {
        context.fillStyle = theme("wall");
        context.fillRect(px + 1, py + 1, cell - 2, cell - 2);
      } else if (symbol === ".") {
        context.fillStyle = theme("dot");
        context.beginPath();
        context.arc(px + cell / 2, py + cell / 2, cell * 0.16, 0, 2 * Math.PI);
        context.fill();
      }
    });
  });
  const [x, y] = agent();
  const facing = { left: Math.PI, right: 0, up: -Math.PI / 2, down: Math.PI / 2 }[last?.action ?? "right"] ?? 0;
  const bite = moves % 2 === 0 ? 0.55 : 0.2;
  const [px, py] = [left + (x + 0.5) * cell, top + (y + 0.5) * cell];
  context.fillStyle = theme("agent");
  context.beginPath();
  context.moveTo(px, py);
  context.arc(px, py, cell * 0.42, facing + bite, facing + 2 * Math.PI - bite);
  context.closePath();
  context.fill();
}

function tell(): void {
  const reachable = game?.reachable ?? 0;
  byId("pacman-score").textContent = `${eaten} of ${reachable} dots, ${moves} moves`;
  canvas().setAttribute("aria-label", `Pacman map, ${eaten} of ${reachable} dots eaten after ${moves} moves`);
  const values = last?.values ?? null;
  const box = byId("pacman-values");
  if (!values) {
    box.replaceChildren(make("p", { class: "about" }, "A model shows here what it expects of each move."));
    return;
  }
  const [low, high] = [Math.min(...values), Math.max(...values)];
  box.replaceChildren(
    make("p", { class: "about" }, `values of the four moves, after ${last?.iterations ?? 0} iterations`),
    ...values.map((value, at) => {
      const part = high > low ? (value - low) / (high - low) : 1;
      const bar = make("meter", { min: "0", max: "1", value: String(0.04 + 0.96 * part), "aria-label": NAMES[at]! });
      const chosen = NAMES[at] === last?.action ? " chosen" : "";
      return make("div", { class: `value${chosen}` }, make("span", {}, NAMES[at]!), bar, make("span", {}, number(value)));
    }),
  );
}

function stop(message?: string): void {
  window.clearInterval(timer);
  timer = 0;
  byId("pacman-play").textContent = "Play";
  if (message) {
    say(message);
  }
}

/** Does a move on the board; `own` if a person chose it. */
function apply(move: Move, own = false): void {
  const [x, y] = agent();
  put(x, y, " ");
  put(move.at[0], move.at[1], "@");
  moves++;
  last = move;
  if (move.ate) {
    eaten++;
    visited = new Set();
  }
  const place = move.at.join();
  const rounds = !own && player() !== "random" && visited.has(place);
  visited.add(place);
  draw();
  tell();
  if (eaten >= (game?.reachable ?? 0)) {
    over = true;
    stop(`All ${eaten} dots that can be reached are eaten, after ${moves} moves.`);
  } else if (rounds) {
    over = true;
    stop(`The player walks in a circle: it will not find the last ${(game?.reachable ?? 0) - eaten} dots.`);
  } else if (moves >= (game?.step_limit ?? Infinity)) {
    over = true;
    stop("Time is up.");
  } else if (own) {
    const [column, row] = move.at;
    say(`${move.action}: column ${column}, row ${row}${move.ate ? ", a dot eaten" : ""}; ${eaten} of ${game?.reachable ?? 0} dots.`);
  }
}

async function tick(): Promise<void> {
  if (over || busy) {
    return;
  }
  if (ahead.length === 0) {
    busy = true;
    try {
      const body = { rows, player: player(), moves: AHEAD, seed: moves };
      ahead = (await post<Play>("/api/pacman/play", body)).moves;
    } catch (error) {
      stop();
      sayError(error);
      return;
    } finally {
      busy = false;
    }
  }
  const move = ahead.shift();
  if (move) {
    apply(move);
  } else {
    stop();
  }
}

async function moveYourself(action: string): Promise<void> {
  if (over || busy || !game) {
    return;
  }
  busy = true;
  try {
    const answer = await post<Play>("/api/pacman/play", { rows, action });
    if (answer.moves[0]) {
      apply(answer.moves[0], true);
    }
  } catch (error) {
    sayError(error);
  } finally {
    busy = false;
  }
}

async function begin(): Promise<void> {
  stop();
  const value = (id: string) => Number(byId<HTMLInputElement>(id).value) || 0;
  const body = { dots: value("pacman-dots"), walls: value("pacman-walls"), size: value("pacman-size"), seed: value("pacman-seed") };
  try {
    game = await post<Game>("/api/pacman/game", body);
  } catch (error) {
    sayError(error);
    return;
  }
  rows = [...game.rows];
  [ahead, eaten, moves, last, over] = [[], 0, 0, null, false];
  visited = new Set([agent().join()]);
  draw();
  tell();
}

function toggle(): void {
  if (timer) {
    stop();
    return;
  }
  if (player() === YOU) {
    canvas().focus();
    say("Your turn: the arrow keys move, when the map has the focus.");
    return;
  }
  byId("pacman-play").textContent = "Pause";
  const speed = Number(byId<HTMLSelectElement>("pacman-speed").value) || 8;
  timer = window.setInterval(() => void tick(), 1000 / speed);
}

export function startPacman(): { offer(models: Model[]): void; begin(): void } {
  byId("pacman-new").addEventListener("click", () => void begin());
  byId("pacman-next").addEventListener("click", () => {
    const seed = byId<HTMLInputElement>("pacman-seed");
    seed.value = String((Number(seed.value) || 0) + 1);
    void begin();
  });
  byId("pacman-play").addEventListener("click", toggle);
  byId("pacman-step").addEventListener("click", () => {
    stop();
    void tick();
  });
  byId("pacman-player").addEventListener("change", () => {
    stop();
    ahead = [];
  });
  byId("pacman-speed").addEventListener("change", () => {
    if (timer) {
      stop();
      toggle();
    }
  });
  const keys: Record<string, string> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
  canvas().addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (action) {
      event.preventDefault();
      byId<HTMLSelectElement>("pacman-player").value = YOU;
      stop();
      ahead = [];
      void moveYourself(action);
    }
  });
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-move]")) {
    button.addEventListener("click", () => void moveYourself(button.dataset["move"]!));
  }
  keepDrawn(canvas(), draw);
  return {
    offer(models) {
      const players = models.filter((model) => model.solves.includes("pacman"));
      fillSelect(byId<HTMLSelectElement>("pacman-player"), [
        ...players.map((model): [string, string] => [model.name, `${model.name} (${model.network})`]),
        ["nearest-dot", "nearest-dot: a rule that always finds the way"],
        ["random", "random moves"],
        [YOU, "you, with the arrow keys"],
      ]);
    },
    begin: () => void begin(),
  };
}
