
"use strict";
// Without this script everything can be read. It shows one session beside the list, searches, copies, and on a live page
// asks for what is not here, and for changes.
document.documentElement.classList.add("js");
addEventListener("DOMContentLoaded", () => {
	const $ = id => document.getElementById(id);
	const root = document.documentElement, live = "live" in root.dataset;
	const make = html => {
		const t = document.createElement("template");
		t.innerHTML = html; // of the page's own server, or of its own text
		return t.content;
	};
	const button = (name, click) => {
		const b = document.createElement("button");
		b.type = "button";
		b.textContent = name;
		b.addEventListener("click", click);
		return b;
	};
	const failed = e => { if ($("failed")) $("failed").textContent = e?.message ?? ""; };
	const ask = async (path, change) => {
		const answer = await fetch(path, change && {method: "POST", body: JSON.stringify(change)});
		if (!answer.ok) throw new Error(await answer.text());
		return answer.text();
	};

	// What is looked at stands in the address: #sessions?q=mast&project=…&s=12. A link leads to #s12 or #m-….
	const filters = ["q", "project", "harness", "agent", "since", "kind", "who", "page"];
	const of = {sessions: ["q", "project", "harness", "agent", "since"], memories: ["q", "project", "kind", "who"]};
	const parse = () => {
		const hash = location.hash.slice(1), state = {part: "sessions", s: "", ...Object.fromEntries(filters.map(k => [k, ""]))};
		const [part, rest] = hash.split("?");
		if (/^s\d+$/.test(part)) state.s = part.slice(1);
		else if (part.startsWith("m-")) Object.assign(state, {part: "memories", target: part});
		else if ($(part)?.matches(".part")) state.part = part;
		for (const [k, v] of new URLSearchParams(rest)) if (k in state && k !== "part") state[k] = v;
		return state;
	};
	const asked = state => {
		const p = new URLSearchParams();
		for (const k of filters) if (state[k] && (k === "page" ? state.part === "memories" : (of[state.part] ?? filters).includes(k))) p.set(k, state[k]);
		return p;
	};
	const go = (change, replace) => {
		const next = {...state, target: "", ...change}, p = asked(next);
		if (next.s) p.set("s", next.s);
		history[replace ? "replaceState" : "pushState"](null, "", "#" + next.part + (p.size ? "?" + p : ""));
		apply();
	};
	let state = {};
	const fill = () => {
		const form = $("find");
		for (const k of filters) {
			const field = form.elements[k];
			if (!field) continue;
			if (field !== document.activeElement || k !== "q") {
				if (state[k] && field.options && ![...field.options].some(o => o.value === state[k])) field.add(new Option(state[k], state[k]));
				field.value = state[k];
			}
			field.classList.toggle("set", state[k] !== "");
			field.hidden = !(of[state.part] ?? of.sessions).includes(k);
		}
		form.querySelector("[type=reset]").hidden = !asked(state).size;
	};
	const apply = () => {
		const before = state, form = $("find");
		state = parse();
		for (const part of document.querySelectorAll(".part")) part.classList.toggle("shown", part.id === state.part);
		for (const a of document.querySelectorAll("nav a")) {
			if (a.hash === "#" + state.part) a.setAttribute("aria-current", "true");
			else a.removeAttribute("aria-current");
		}
		root.classList.toggle("two", state.part === "sessions");
		root.classList.toggle("opened", state.part === "sessions" && state.s !== "");
		root.classList.add("ready");
		form.hidden = !["sessions", "memories"].includes(state.part);
		fill();
		const differs = String(asked(before)) !== String(asked(state));
		if (state.part === "sessions" && (differs || before.part === undefined && String(asked(state)))) list();
		if (state.s !== (before.s ?? "")) show();
		else if (differs) highlight();
		if (state.part === "memories" && (differs || before.part !== state.part)) memories();
		if (state.part === "usage" && before.part !== "usage" && live) renew("usage");
		if (state.target) $(state.target)?.scrollIntoView();
		if (before.part !== undefined && before.part !== state.part && !state.target) scrollTo(0, 0);
	};
	addEventListener("popstate", apply); // also for a link to another part

	// The list. A file has all rows: the later ones are text until somebody wants them.
	const step = 60, most = 50;
	let all, shown = step, asking = 0;
	const rows = () => all ??= [...$("rows").children, ...($("rest") ? make($("rest").textContent).querySelectorAll("tr") : [])];
	const fold = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
	const words = text => [...fold(text).matchAll(/"([^"]+)"?|[^\s"]+/g)].map(m => m[1] ?? m[0]);
	const escapes = {lt: "<", gt: ">", amp: "&", "#34": '"', "#39": "'", quot: '"', "#43": "+"};
	const beside = /<header>.*?<\/header>|<h4>.*?<\/h4>|<p class="at.*?<\/p>|<summary>.*?<\/summary>|<[^>]*>/gs; // what nobody said
	const textOf = html => html.replace(beside, "").replace(/&(#?\w+);/g, (e, name) => escapes[name] ?? e);
	let sessions;
	const saidIn = id => (sessions ??= new Map(Array.from(document.querySelectorAll("noscript[data-session]"), n => [n.dataset.session, n]))).get(id)?.textContent ?? "";
	let texts;
	const textsOf = () => {
		if (texts) return texts;
		texts = new Map();
		for (const r of rows()) texts.set(r.dataset.s, fold(r.querySelector("a").textContent + "\n" + textOf(saidIn(r.dataset.s))));
		return texts;
	};
	const since = text => /^\d+d$/.test(text) ? [Date.now() - 864e5 * parseInt(text), Infinity] : (at => [at, at + 864e5])(+new Date(text + "T00:00"));
	const chosen = () => {
		const w = words(state.q), [from, to] = state.since ? since(state.since) : [0, Infinity];
		return rows().filter(r => (!state.project || r.dataset.project === state.project) && (!state.harness || r.dataset.harness === state.harness) &&
			(!state.agent || r.dataset.agent === state.agent) && +r.dataset.at >= from && +r.dataset.at < to &&
			w.every(word => textsOf().get(r.dataset.s).includes(word)));
	};
	const blocks = /<\/(?:p|li|div|pre|td|th|h\d)>|<br>/g; // what ends a line
	const inserted = /<details class="told">.*?<\/details>|<ul class="items">.*?<\/ul>/gs;
	const meet = row => { // shows the line in which the search is met
		row.querySelector(".match")?.remove();
		const w = words(state.q);
		if (!w.length) return;
		const html = saidIn(row.dataset.s), low = html.toLowerCase(), key = w.reduce((a, b) => b.length > a.length ? b : a);
		const bestOf = (html, as) => {
			let best = "", most = 0;
			for (const line of textOf(html.replace(blocks, "\n$&")).split("\n")) {
				const text = as(line), n = w.filter(word => text.includes(word)).length;
				if (n > most) [best, most] = [line, n];
				if (n === w.length) break;
			}
			return best;
		};
		let best = "";
		for (let at = -1, n = 0; !best && n < 8 && (at = low.indexOf(key, at + 1)) >= 0; n++) { // the whole takes long
			const from = Math.max(html.lastIndexOf('<div class="turn"', at), at - 4000);
			best = bestOf(html.slice(from, at + 600).replace(inserted, ""), line => line.toLowerCase());
		}
		best ||= bestOf(html, fold);
		if (!best) return;
		const before = fold(best).indexOf(w.find(word => fold(best).includes(word))) - 40, p = document.createElement("p");
		const at = before > 0 ? best.indexOf(" ", before) + 1 : 0; // where a word begins
		p.className = "match quiet";
		p.textContent = (at ? "… " : "") + best.slice(at, at + 200).trim();
		row.firstElementChild.append(p);
	};
	let meeting;
	const near = new IntersectionObserver(all => { // once nobody types
		const on = all.filter(e => e.isIntersecting).map(e => e.target);
		for (const row of on) near.unobserve(row);
		meeting = setTimeout(() => on.forEach(meet), 80);
	});
	let opens = false;
	const openFirst = () => {
		opens = false;
		const first = $("rows")?.firstElementChild;
		if (!first) return;
		first.querySelector("a").focus({preventScroll: true});
		go({s: first.dataset.s});
	};
	const put = (found, more, count) => {
		$("rows").replaceChildren(...found);
		$("more").parentElement.hidden = !more;
		if (!live) {
			near.disconnect();
			clearTimeout(meeting);
			for (const row of found) near.observe(row);
		}
		if (opens) queueMicrotask(openFirst);
		$("hits").textContent = String(asked(state)) ? (count === 0 ? "No matches" : count + (more && live ? " or more" : "") + (count === 1 ? " session" : " sessions")) : "";
		current();
	};
	const list = async (on = false) => {
		shown = on ? shown + step : on === false ? step : shown;
		if (!$("rows")) return;
		if (!live) {
			const found = chosen();
			put(found.slice(0, shown), found.length > shown, found.length);
			return;
		}
		const turn = ++asking, p = asked(state), old = on ? [...$("rows").children] : [];
		if (old.length) p.set("after", old.at(-1).dataset.s);
		try {
			const got = make("<table><tbody>" + await ask("parts/rows?" + p) + "</tbody></table>");
			if (turn !== asking) return;
			const more = got.querySelector("[data-more]");
			more?.remove();
			const found = [...old, ...got.querySelectorAll("tr")], focused = document.activeElement?.closest?.("#rows tr")?.dataset.s;
			put(found, more, found.length);
			if (focused) $("rows").querySelector(`[data-s="${focused}"] a`)?.focus();
			failed();
		} catch (e) {
			failed(e);
		}
	};
	const current = () => {
		for (const r of $("rows")?.children ?? []) {
			if (r.dataset.s === state.s) r.setAttribute("aria-current", "true");
			else r.removeAttribute("aria-current");
		}
	};
	$("more")?.addEventListener("click", () => list(true));
	if ($("rows")) {
		const more = $("rows").querySelector("[data-more]");
		more?.remove();
		$("more").parentElement.hidden = !more && !$("rest");
	}

	// one session
	const overview = $("overview");
	const show = async (again = false) => {
		const id = state.s, detail = $("detail");
		current();
		if (!id) {
			detail.replaceChildren(overview);
			return;
		}
		try {
			const html = live ? await ask("sessions/" + id) : saidIn(id);
			if (id !== state.s) return;
			const at = detail.scrollTop, open = Array.from(detail.querySelectorAll("details"), d => d.open);
			detail.replaceChildren(html ? make(html) : "This session is not on this page.");
			detail.querySelector(".back").hash = "#sessions" + (asked(state).size ? "?" + asked(state) : "");
			frame(detail);
			if (again) detail.querySelectorAll("details").forEach((d, i) => { d.open = open[i] ?? false; });
			detail.scrollTop = again ? at : 0;
			if (!again && root.clientWidth <= 960) scrollTo(0, 0);
			highlight(!again);
			failed();
		} catch (e) {
			failed(e);
		}
	};

	// code can be copied, and long code is folded
	const longest = 24; // lines
	const copier = of => {
		const b = button("Copy", async () => {
			try {
				await navigator.clipboard.writeText(of.textContent);
				b.textContent = "Copied";
			} catch {
				getSelection().selectAllChildren(of);
				b.textContent = "Selected";
			}
		});
		b.className = "copier";
		return b;
	};
	const frame = within => {
		for (const pre of within.querySelectorAll("pre:not(.block)")) {
			const box = document.createElement("div"), lines = pre.textContent.split("\n").length;
			box.className = "framed";
			pre.replaceWith(box);
			box.append(pre, copier(pre));
			if (pre.scrollWidth > pre.clientWidth) pre.tabIndex = 0;
			if (lines <= longest + 4) continue;
			box.classList.add("long");
			const all = button("Show all " + lines + " lines", () => {
				box.classList.remove("long");
				all.remove();
			});
			box.after(all);
		}
		commands(within);
	};

	const commands = within => {
		for (const code of within.querySelectorAll(".copy")) code.after(copier(code));
	};

	// words that are looked for are marked in the session that is open
	const highlight = scroll => {
		const found = [], w = state.s ? words(state.q).filter(word => word.length > 1) : [];
		if (!window.Highlight) return;
		if (w.length) {
			const walk = document.createTreeWalker($("detail"), NodeFilter.SHOW_TEXT);
			for (let n; (n = walk.nextNode()) && found.length < 2000;) {
				const text = n.data.toLowerCase();
				for (const word of w) for (let at = -1; (at = text.indexOf(word, at + 1)) >= 0 && at + word.length <= n.data.length;) {
					const range = new Range();
					range.setStart(n, at);
					range.setEnd(n, at + word.length);
					found.push(range);
				}
			}
		}
		CSS.highlights.set("found", new Highlight(...found));
		if (scroll) found.map(r => r.startContainer.parentElement).find(e => e.closest(".turn") && e.checkVisibility())?.scrollIntoView({block: "center"});
	};

	// memories: a file has all of them, and shows some
	let index;
	const makeIndex = () => index ??= Array.from($("all-memories").querySelectorAll(".memories > li"), li => ({
		li, text: fold(li.querySelector(".said").textContent + "\n" + li.dataset.project), other: li.closest("#others"),
	}));
	const pager = (page, more) => {
		const turn = (name, by, off) => {
			const b = button(name, () => {});
			b.dataset.page = by;
			b.disabled = off;
			return b;
		};
		$("pages").hidden = page === 1 && !more;
		$("pages").replaceChildren(turn("Newer", -1, page === 1), " Page " + page + " ", turn("Older", 1, !more));
	};
	const memories = () => {
		if (live) return renew("memories");
		const w = words(state.q), chosen = w.length || state.project || state.kind || state.who;
		const hits = makeIndex().filter(({li, text, other}) => chosen ? w.every(word => text.includes(word)) && (!state.kind || li.dataset.kind === state.kind) &&
			(!state.who || li.dataset.who === state.who) && (!state.project || li.dataset.project === state.project || "personal" in li.dataset) : other);
		const to = hits.findIndex(m => m.li.id === state.target), page = to < 0 ? parseInt(state.page) || 1 : 1 + Math.floor(to / most);
		$("all-memories").className = chosen || page > 1 ? "searched" : "paged"; // quicker than to hide it: it stays laid out
		$("found").hidden = hits.length === 0;
		$("found").replaceChildren(...hits.slice((page - 1) * most, page * most).map(m => {
			const copy = m.li.cloneNode(true);
			copy.removeAttribute("id");
			for (const a of copy.querySelectorAll("[id]")) a.removeAttribute("id");
			return copy;
		}));
		pager(page, hits.length > page * most);
		$("hits").textContent = !chosen ? "" : hits.length === 0 ? "No matches" : hits.length + (hits.length === 1 ? " memory" : " memories");
		if (to >= 0) $("found").children[to % most].scrollIntoView({block: "center"});
	};

	// what people do
	const form = $("find");
	let typing;
	if (!live) $("q").addEventListener("focus", textsOf); // before the first letter
	form.addEventListener("submit", e => e.preventDefault());
	form.addEventListener("input", e => {
		clearTimeout(typing);
		const change = {[e.target.name]: e.target.value.trim(), page: ""};
		if (e.target.name === "q") typing = setTimeout(() => go(change, state.q !== ""), live ? 150 : 60);
		else go(change);
	});
	form.addEventListener("reset", e => {
		e.preventDefault();
		$("q").value = "";
		go(Object.fromEntries(filters.map(k => [k, ""])));
	});
	document.addEventListener("click", e => {
		const day = e.target.closest?.("[data-day]"), row = e.target.closest?.("#rows tr"), a = e.target.closest?.("a");
		if (e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
		const by = e.target.closest?.("[data-page]")?.dataset.page;
		if (by) {
			go({page: String((parseInt(state.page) || 1) + +by)});
			return $("h-memories").scrollIntoView();
		}
		if (day) return go({since: day.dataset.day, part: "sessions"});
		const to = a?.getAttribute("href");
		if (to?.match(/^#s\d+$/) || !a && row) {
			e.preventDefault();
			go({part: "sessions", s: a ? to.slice(2) : row.dataset.s});
			if (row) row.querySelector("a").focus({preventScroll: true});
		} else if (a?.matches("nav a")) {
			e.preventDefault();
			go({part: to.slice(1), page: "", s: to === "#sessions" ? "" : state.s});
		}
	});
	const move = by => {
		const links = [...document.querySelectorAll("#rows a")], at = links.findIndex(a => a === document.activeElement);
		const from = at >= 0 ? at : links.findIndex(a => a.closest("tr").dataset.s === state.s);
		if (from + by >= links.length && !$("more").parentElement.hidden) list(true);
		links[Math.max(0, Math.min(from + by, links.length - 1))]?.focus();
	};
	addEventListener("keydown", e => {
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		const writes = e.target.matches("input, textarea, select");
		if (e.key === "Escape") {
			if (e.target === $("q") && $("q").value) $("q").form.reset();
			else if (writes) e.target.blur();
			else if (state.s) {
				const id = state.s;
				go({s: ""});
				$("rows").querySelector(`[data-s="${id}"] a`)?.focus();
			}
		} else if (e.target === $("q") && e.key === "ArrowDown" && state.part === "sessions") {
			e.preventDefault();
			document.querySelector("#rows a")?.focus();
		} else if (e.target === $("q") && e.key === "Enter" && state.part === "sessions") { // what was met first
			e.preventDefault();
			clearTimeout(typing);
			if (state.q === $("q").value.trim()) return openFirst();
			opens = true;
			go({q: $("q").value.trim()}, state.q !== "");
		} else if (writes) {
			return;
		} else if (e.key === "/") {
			e.preventDefault();
			if (form.hidden || root.clientWidth <= 960) go({part: form.hidden ? "sessions" : state.part, s: ""});
			$("q").focus();
			$("q").select();
		} else if ((e.key === "j" || e.key === "k") && state.part === "sessions") {
			move(e.key === "j" ? 1 : -1);
		}
	});

	// A live page asks for what has changed, and asks for changes.
	const place = {memories: "all-memories", usage: "used"};
	const writing = () => document.querySelector("#all-memories textarea");
	const renew = async name => {
		try {
			const now = make(await ask("parts/" + name + (name === "memories" ? "?" + asked(state) : "")));
			if (name === "memories" && writing()) return; // what somebody is writing stays until it is written
			$(place[name]).replaceChildren(now);
			if (name === "memories") $("hits").textContent = "";
			if (state.target) $(state.target)?.scrollIntoView();
			failed();
		} catch (e) {
			failed(e);
		}
	};
	commands($("all-memories"));
	apply();
	if (!live) return;
	const look = async () => {
		try {
			overview.replaceChildren(make(await ask("parts/overview")));
			form.querySelector(".filters").replaceWith(overview.querySelector(".filters"));
			fill();
			failed();
		} catch (e) {
			failed(e);
		}
	};
	look();

	const stale = new Set();
	const catchUp = () => {
		const now = [...stale];
		stale.clear();
		if (now.includes("session " + state.s)) show(true);
		if (now.some(what => what !== "memories") && state.part === "sessions" && shown === step && $("rows")?.children.length <= step) list(null);
		if (now.includes("sessions")) look();
		if (now.includes("memories") && state.part === "memories") renew("memories");
		if (now.length && !$("rows")) location.reload(); // the first session
	};
	const changes = new EventSource("changes");
	changes.onmessage = e => {
		if (stale.size === 0) setTimeout(catchUp, 300);
		stale.add(e.data);
	};
	changes.onerror = () => { $("state").textContent = "The server has ended; this page no longer updates."; };
	changes.onopen = () => { $("state").textContent = "Live"; };

	const act = {
		pin: id => ask("memories/" + id + "/pin", {}),
		keep: id => ask("memories/" + id + "/keep", {}),
		end: id => ask("delegations/" + id + "/end", {}),
		forget: async (id, li) => {
			await ask("memories/" + id + "/forget", {});
			li.remove();
			$("undo").replaceChildren("Forgotten, and will not be learned again. ", button("Undo", async () => {
				try {
					await ask("undo", {});
					$("undo").replaceChildren("Restored.");
				} catch (e) {
					failed(e);
				}
			}));
			$("undo").lastChild.focus();
		},
		edit: (id, li) => {
			const said = li.querySelector(".said"), acts = li.querySelector(".acts"), text = document.createElement("textarea");
			text.value = said.textContent;
			text.rows = Math.min(12, 2 + text.value.length / 60 | 0);
			text.setAttribute("aria-label", "Text of the memory");
			const line = document.createElement("p");
			const done = () => {
				text.remove();
				line.remove();
				said.hidden = acts.hidden = false;
				acts.querySelector("[data-do=edit]").focus();
			};
			line.append(button("Save", async () => {
				try {
					await ask("memories/" + id + "/edit", {Text: text.value});
					said.textContent = text.value;
					done();
				} catch (e) {
					failed(e);
				}
			}), " ", button("Cancel", done));
			said.hidden = acts.hidden = true;
			said.after(text, line);
			text.focus();
		},
	};
	document.addEventListener("click", async e => {
		const to = e.target.closest?.("[data-do]");
		if (!to) return;
		try {
			await act[to.dataset.do](to.parentElement.dataset.id, to.closest("li"));
			failed();
		} catch (problem) {
			failed(problem);
		}
	});
});
