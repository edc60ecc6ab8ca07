// Maps and Pacman, step by step.

import { check, until } from "./harness.mjs";
import { answered, chooseExact, iterations, seek, shows, text, verdict } from "./steps.mjs";

/** Paints an obstacle across a map and sees the way lead around it. */
export async function paintMap(page, shoot) {
  await answered(page, "map", () => page.click("#tab-maps"), 0);
  await chooseExact(page, "map", "maps");
  await seek(page, "map", Math.ceil((await iterations(page, "map")) / 2));
  await shoot(page, "map");
  await page.locator("#map-size").fill("16");
  await page.click("#map-clear");
  const open = await answered(page, "map", () => page.click("#map-ask"));
  const straight = Number(open.match(/exact length\s+([\d.]+)/)[1]);
  const canvas = page.locator("#map-panes canvas.picture").first();
  const box = await canvas.boundingBox();
  const cell = Math.min((box.width - 16) / 16, (box.height - 16) / 16);
  const at = (row, column) => ({
    x: box.x + (box.width - 16 * cell) / 2 + (column + 0.5) * cell,
    y: box.y + (box.height - 16 * cell) / 2 + (row + 0.5) * cell,
  });
  // A wall over the whole width but for one gap on the far side.
  await page.mouse.move(...Object.values(at(8, 15)));
  await page.mouse.down();
  for (let column = 15; column >= 1; column--) await page.mouse.move(...Object.values(at(8, column)), { steps: 3 });
  await page.mouse.up();
  await until(() => text(page, "#map-count"), (count) => count.includes("15 of them blocked"), "fifteen cells painted");
  const walled = await until(
    () => verdict(page, "map"),
    (found) => found.includes("the walk found") && Number(found.match(/exact length\s+([\d.]+)/)?.[1]) > straight,
    "a longer way",
  );
  check(walled.includes("a shortest path"), `the model goes around: ${walled}`);
  await shows(page, "#map-panes canvas.picture", "--found");
}

/** Watches a player, then plays. */
export async function playPacman(page, shoot) {
  await page.click("#tab-pacman");
  await until(() => text(page, "#pacman-score"), (score) => score.includes("of 10"), "a game");
  await page.selectOption("#pacman-speed", "60");
  await page.click("#pacman-play");
  await until(() => text(page, "#pacman-score"), (score) => Number(score.match(/, (\d+) moves/)[1]) >= 8, "eight moves");
  await page.click("#pacman-play");
  check((await page.locator("#pacman-values .value").count()) === 4, "the model shows four values");
  await shoot(page, "pacman");
  await page.selectOption("#pacman-player", "nearest-dot");
  await page.click("#pacman-new");
  await until(() => text(page, "#pacman-score"), (score) => score.includes(", 0 moves"), "a new game");
  await page.click("#pacman-play");
  await until(() => text(page, "#status"), (said) => said.includes("All"), "the rule to eat everything");
  await page.click("#pacman-new");
  await until(() => text(page, "#pacman-score"), (score) => score.includes(", 0 moves"), "a new game");
  await page.locator("#pacman-board").focus();
  for (const [at, key] of ["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"].entries()) {
    await page.keyboard.press(key);
    await until(() => text(page, "#pacman-score"), (score) => score.includes(`, ${at + 1} moves`), "a move of one's own");
  }
}
