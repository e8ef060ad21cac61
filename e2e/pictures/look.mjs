// Looks at a page: pictures, axe-core, requests, and how long it takes. Run by main.go.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";

const [chromium, proxy, small, large, out, into] = process.argv.slice(2);
const openLimit = 1000, searchLimit = 50; // ms
const parts = { overview: "#sessions", sessions: "#s6", search: "#sessions?q=mast&s=1", memories: "#memories", usage: "#usage", recorded: "#recorded" };
const looks = Object.fromEntries([1440, 900, 400].flatMap(width => ["light", "dark"].map(scheme => [`${width}-${scheme}`, { scheme, width }])));
const usual = looks["1440-light"];
const axe = await readFile(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const failures = [];
const fail = text => { failures.push(text); console.log("FAILED " + text); };

const browser = await puppeteer.launch({ executablePath: chromium, headless: "shell", args: ["--no-sandbox", "--force-color-profile=srgb"] });
try {
	await take();
	if (into) await show();
	await keys();
	await withoutScript();
	await live();
	await measure();
} finally {
	await browser.close();
}
process.exit(failures.length ? 1 : 0);

// visit opens a page on which no request but that for itself may be made.
async function visit(file, look, javascript = true) {
	const page = await browser.newPage();
	await page.setJavaScriptEnabled(javascript);
	await page.setViewport({ width: look.width, height: look.width > 1000 ? 900 : 850 });
	await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: look.scheme }]);
	const own = pathToFileURL(file).href;
	page.on("request", r => { if (r.url().split("#")[0] !== own) fail("a request left the page: " + r.url()); });
	page.on("pageerror", e => fail("the script failed: " + e.message));
	await page.goto(own, { waitUntil: "load" });
	return page;
}

// take makes the pictures, and has axe-core look at each part.
async function take() {
	for (const [name, look] of Object.entries(looks)) {
		const page = await visit(small, look);
		for (const [part, hash] of Object.entries(parts)) {
			await page.evaluate((part, hash) => {
				location.hash = hash;
				dispatchEvent(new PopStateEvent("popstate"));
				for (const d of document.querySelectorAll("#detail .tools, #" + part + " li:nth-child(1) details")) d.open = true;
			}, part, hash);
			await new Promise(done => setTimeout(done, 200));
			await page.screenshot({ path: join(out, `${part}-${name}.png`) });
			await examine(page, `${part}, ${name}`);
		}
		if (await page.title() !== "Agent memory") fail("stored HTML changed the page's title");
		if (await page.$("img, body script")) fail("stored HTML became an element");
		await page.close();
	}
}

// examine looks for what axe-core finds, a part that is wider than the window, and column heads that are cut.
async function examine(page, where) {
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	if (wide > 0) fail(`${where}: ${wide} px wider than the window`);
	const cut = await page.$$eval("#list thead th", all => all.filter(th => th.checkVisibility() && th.scrollWidth > th.clientWidth).map(th => th.textContent));
	if (cut.length) fail(`${where}: the heads ${cut} are cut`);
	await page.evaluate(axe);
	const found = await page.evaluate(() => axe.run());
	for (const v of found.violations) fail(`${where}: axe: ${v.impact}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | ")}`);
}

// show takes the two pictures that README has.
async function show() {
	const page = await visit(small, usual);
	await page.setViewport({ width: 1280, height: 720, deviceScaleFactor: 1 });
	await page.goto(pathToFileURL(small).href + "#sessions?q=panic&s=22");
	await page.waitForSelector("#detail .turn");
	await page.screenshot({ path: join(into, "page.webp"), type: "webp", quality: 75 });
	await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
	await page.setViewport({ width: 1280, height: 1400, deviceScaleFactor: 1 });
	await page.evaluate(() => { document.querySelector("#detail .told").open = true; document.querySelector("#detail").scrollTop = 0; });
	const { x, y, width } = await (await page.$("#detail .turn")).boundingBox(), end = await (await page.$("#detail pre:not(.block)")).boundingBox();
	await page.screenshot({ path: join(into, "conversation.webp"), type: "webp", quality: 75, clip: { x: x - 16, y, width: width + 32, height: end.y + end.height + 28 - y } });
	await page.close();
}

// keys goes through the page without a mouse, and back by its history.
async function keys() {
	const page = await visit(small, usual);
	const state = () => page.evaluate(() => location.hash + " " + (document.querySelector("#detail .session")?.id ?? ""));
	const expect = async (what, want) => {
		const seen = await page.waitForFunction(want => location.hash + " " + (document.querySelector("#detail .session")?.id ?? "") === want, { timeout: 3000 }, want).catch(() => null);
		if (!seen) fail(`${what}: ${await state()}, want ${want}`);
	};
	await page.keyboard.press("/");
	await page.keyboard.type("orchard gate");
	await expect("a search", "#sessions?q=orchard+gate ");
	await page.waitForSelector("#rows .match");
	const met = await page.$$eval("#rows .match", all => all.map(p => p.textContent));
	if (!met.length || met.some(text => !/orchard|gate/.test(text))) fail("a search is met in " + met);
	const first = await page.$eval("#rows tr", r => r.dataset.s);
	await page.keyboard.press("Enter");
	await expect("Enter", `#sessions?q=orchard+gate&s=${first} s${first}`);
	await page.keyboard.press("Escape");
	await page.keyboard.press("j");
	await page.keyboard.press("k");
	await page.keyboard.press("Enter");
	await expect("j, k and Enter", `#sessions?q=orchard+gate&s=${first} s${first}`);
	if (!await page.evaluate(() => CSS.highlights.get("found").size)) fail("what was searched is not marked");
	await page.keyboard.press("Escape");
	await expect("Escape", "#sessions?q=orchard+gate ");
	await page.select("select[name=harness]", "Codex");
	await expect("a filter", "#sessions?q=orchard+gate&harness=Codex ");
	const few = await page.$$eval("#rows tr", all => all.map(r => r.dataset.harness));
	if (!few.length || few.some(h => h !== "Codex")) fail("a filter shows " + few);
	await page.goBack();
	await page.goBack();
	await expect("back twice", `#sessions?q=orchard+gate&s=${first} s${first}`);
	await page.close();
}

// withoutScript reads sessions and memories as somebody who allows no scripts.
async function withoutScript() {
	const page = await visit(small, usual, false);
	for (const [part, words] of [["sessions", "How long is the mast"], ["memories", "The mast of the Curlew is 11.42"]]) {
		await page.goto(pathToFileURL(small).href + "#" + part);
		const seen = await page.$eval("#" + part, (e, words) => e.checkVisibility() && e.textContent.includes(words), words);
		if (!seen) fail(`without a script ${part} cannot be read`);
	}
	await page.screenshot({ path: join(out, "memories-without-script.png") });
	await page.close();
}

// live changes memories with clicks on a page that is served, and closes the window: then nobody serves it any more.
async function live() {
	const served = spawn(resolve(proxy), ["view", "--live", "--no-open", "--signet-path", dirname(small)], { stdio: ["ignore", "pipe", "inherit"] });
	const [address] = await once(createInterface({ input: served.stdout }), "line");
	const page = await browser.newPage();
	page.on("request", r => { if (!r.url().startsWith(new URL(address).origin)) fail("a request left the live page: " + r.url()); });
	page.on("pageerror", e => fail("the live script failed: " + e.message));
	page.on("dialog", d => d.accept());
	await page.goto(address + "#memories");
	const nth = n => "#all-memories .memories > li:nth-of-type(" + n + ")";
	await page.waitForSelector(nth(3));
	const first = await page.$eval(nth(1), li => li.id), second = await page.$eval(nth(2), li => li.id), third = await page.$eval(nth(3), li => li.id);
	// all in one step: the page renews what has changed, and an element that was found may be gone when it is clicked
	const click = button => page.evaluate(button => document.querySelector(button).click(), button);
	await click(`#${first} [data-do=forget]`);
	await page.waitForFunction(id => !document.getElementById(id), {}, first);
	await click("#undo button");
	await page.waitForFunction(id => document.getElementById(id), {}, first);
	await click(`#${second} [data-do=edit]`);
	await page.$eval(`#${second} textarea`, t => { t.value = "Changed with a click."; });
	await page.evaluate(id => document.querySelector(`#${id} textarea + p button`).click(), second);
	await page.waitForFunction(id => document.querySelector(`#${id} .said`)?.textContent === "Changed with a click." && !document.querySelector("textarea"), {}, second);
	await click(`#${third} [data-do=pin]`);
	await page.waitForFunction(id => document.querySelector(`#${id} [data-do=pin]`)?.disabled, {}, third);
	await page.setViewport({ width: 400, height: 900 });
	await page.screenshot({ path: join(out, "memories-live.png") });
	await page.evaluate(() => { location.hash = "#sessions?q=kiln"; });
	await page.waitForFunction(() => document.querySelector("#hits").textContent.endsWith("sessions"));
	await page.evaluate(() => document.querySelector("#rows a").click());
	await page.waitForSelector("#detail .turn");
	for (const [name, look] of Object.entries(looks)) {
		await page.setViewport({ width: look.width, height: 900 });
		await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: look.scheme }]);
		for (const [part, hash] of Object.entries(parts)) {
			await page.evaluate(hash => { location.hash = hash; dispatchEvent(new PopStateEvent("popstate")); }, hash);
			await page.waitForNetworkIdle({ idleTime: 200, concurrency: 1 }); // the one is the stream of changes
			await examine(page, `live ${part}, ${name}`);
		}
		await page.screenshot({ path: join(out, `live-${name}.png`) });
	}
	if (await page.$eval("#failed", p => p.textContent)) fail("the live page complains: " + await page.$eval("#failed", p => p.textContent));
	await page.close();
	const [code] = await once(served, "exit");
	if (code !== 0) fail("view --live ended with " + code);
}

// measure opens the large page and searches it, each several times. What counts is the time that the page's thread worked,
// the best of opening and the median of searches: how long it waited says how busy the machine was.
async function measure() {
	const opened = [], searched = [], waited = [];
	for (let round = 0; round < 5; round++) {
		const page = await browser.newPage();
		await page.setViewport({ width: 1100, height: 900 });
		const client = await page.createCDPSession();
		await client.send("Performance.enable", { timeDomain: "threadTicks" });
		const worked = async () => 1000 * (await client.send("Performance.getMetrics")).metrics.find(m => m.name === "ThreadTime").value;
		let before = await worked();
		await page.goto(pathToFileURL(large).href, { waitUntil: "load" });
		waited.push(await page.evaluate(() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))));
		opened.push(await worked() - before);
		await page.focus("#q");
		await page.screenshot();
		for (const words of ["m", "mast", "mast 99", "kiln 12", "zzz", "orchard gate 77"]) {
			before = await worked();
			await page.evaluate(words => new Promise(done => {
				location.hash = "#sessions?" + new URLSearchParams({ q: words });
				requestAnimationFrame(() => setTimeout(done)); // it is on the screen
			}), words);
			searched.push(await worked() - before);
		}
		if (round === 0) {
			const hits = await page.$eval("#hits", e => e.textContent);
			if (!/^\d+ sessions$/.test(hits)) fail("the last search says " + hits);
		}
		await page.close();
	}
	searched.sort((a, b) => a - b);
	const best = Math.min(...opened), median = searched[searched.length >> 1];
	console.log(`opened with ${best.toFixed(0)} ms of work, ${Math.min(...waited).toFixed(0)} ms by the clock; ` +
		`a search takes ${median.toFixed(1)} ms of work, at most ${searched.at(-1).toFixed(1)} ms`);
	if (best > openLimit) fail(`the page took ${best.toFixed(0)} ms to open`);
	if (median > searchLimit) fail(`a search took ${median.toFixed(1)} ms`);
}
