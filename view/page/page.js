
"use strict";
// Without this script everything can be read. It finds memories, copies commands, and on a live page asks for changes.
document.documentElement.classList.add("js");
addEventListener("DOMContentLoaded", () => {
	const $ = id => document.getElementById(id);
	const live = "live" in document.documentElement.dataset;

	// Older conversations are text to the browser until one is opened: what stands in a noscript makes no elements.
	const unfold = session => {
		const folded = session.querySelector(":scope > noscript");
		if (folded) folded.outerHTML = folded.textContent;
	};
	document.addEventListener("toggle", e => { if (e.target.matches(".session[open]")) unfold(e.target); }, true);

	// which part is shown
	const open = () => {
		const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (target && target.matches("details")) target.open = true;
		const part = (target && target.closest(".part")) || $("sessions");
		for (const one of document.querySelectorAll(".part")) one.classList.toggle("shown", one === part);
		document.documentElement.classList.add("ready");
		for (const a of document.querySelectorAll("nav a")) {
			if (a.hash === "#" + part.id) a.setAttribute("aria-current", "true");
			else a.removeAttribute("aria-current");
		}
		if (target && target !== part) {
			for (let up = target; up; up = up.parentElement) if (up.matches("details.session")) {
				unfold(up);
				up.open = true;
			}
			target.scrollIntoView();
		} else if (target) {
			scrollTo(0, 0);
			target.querySelector("h2").focus({preventScroll: true});
		}
	};
	addEventListener("hashchange", open);
	document.addEventListener("click", e => {
		const day = e.target.closest?.("[data-to]"); // a bar of the timeline
		if (day) location.hash = day.dataset.to;
	});

	// search: an index of the words of all memories, made when it is first asked
	const most = 50;
	const fold = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
	let index = null;
	const makeIndex = () => index ??= Array.from($("all-memories").querySelectorAll(".memories > li"), li => ({
		li, text: fold(li.firstElementChild.textContent + "\n" + li.children[1].textContent + "\n" + li.closest(".project").firstElementChild.title),
	}));
	const find = () => {
		const words = fold($("q").value).split(/\s+/).filter(Boolean);
		$("all-memories").classList.toggle("searched", words.length > 0); // quicker than to hide it: it stays laid out
		$("found").hidden = words.length === 0;
		if (words.length === 0) {
			$("found").replaceChildren();
			$("hits").textContent = "";
			return 0;
		}
		const hits = makeIndex().filter(m => words.every(w => m.text.includes(w)));
		$("found").replaceChildren(...hits.slice(0, most).map(m => {
			const copy = m.li.cloneNode(true);
			copy.removeAttribute("id");
			offer(copy);
			return copy;
		}));
		$("hits").textContent = hits.length === 0 ? "Nothing found." :
			hits.length + (hits.length === 1 ? " memory" : " memories") + (hits.length > most ? ", the newest " + most + " are shown" : "") + ".";
		return hits.length;
	};
	$("search").hidden = false;
	$("search").addEventListener("submit", e => e.preventDefault());
	$("q").addEventListener("focus", makeIndex);
	$("q").addEventListener("input", find);
	addEventListener("keydown", e => {
		if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, textarea")) return;
		e.preventDefault();
		location.hash = "memories";
		$("q").focus();
	});

	// the command of a memory gets a button that copies it, once somebody points at it or has searched for it
	const offer = li => {
		const code = li?.querySelector(".copy");
		if (!code || code.nextElementSibling?.matches(".copier")) return;
		const button = document.createElement("button");
		button.type = "button";
		button.className = "copier";
		button.textContent = "Copy";
		button.addEventListener("click", async () => {
			try {
				await navigator.clipboard.writeText(code.textContent);
				button.textContent = "Copied";
			} catch {
				getSelection().selectAllChildren(code);
				button.textContent = "Selected";
			}
		});
		code.after(button);
	};
	document.addEventListener("pointerover", e => offer(e.target.closest?.(".memories > li")));

	open();
	if (!live) return;

	// A live page asks for what has changed, and asks for changes.
	const part = {sessions: "said", memories: "all-memories", usage: "used"}, stale = new Set();
	const ask = async (path, change) => {
		const answer = await fetch(path, change && {method: "POST", body: JSON.stringify(change)});
		if (!answer.ok) throw new Error(await answer.text());
		return answer.text();
	};
	const failed = e => { $("failed").textContent = e?.message ?? ""; };
	const read = text => new DOMParser().parseFromString(text, "text/html").body;
	const opened = within => Array.from(within.querySelectorAll("details[open][id]"), d => d.id);

	// what somebody is writing stays until it is written
	const written = name => name === "memories" && document.querySelector("#all-memories textarea, #found textarea");

	const renewPart = async name => {
		const now = read(await ask("parts/" + name)), to = $(part[name]), were = opened(to);
		if (written(name)) {
			stale.add(name);
			return;
		}
		to.replaceChildren(...now.childNodes);
		for (const id of were) if ($(id)) $(id).open = true;
		if (name === "memories") {
			index = null;
			find();
		}
	};
	const renewSession = async id => {
		const old = $("s" + id);
		if (!old) return renewPart("sessions");
		const now = read(await ask("sessions/" + id)).firstElementChild;
		old.querySelector("summary").replaceWith(now.querySelector("summary"));
		const unfolded = Array.from(old.querySelectorAll(".told"), d => d.open);
		for (const one of old.querySelectorAll(":scope > .asked, :scope > .turn, :scope > noscript")) one.remove();
		old.append(...now.querySelectorAll(":scope > .asked, :scope > .turn"));
		old.querySelectorAll(".told").forEach((d, i) => { d.open = unfolded[i] ?? false; });
	};

	// what has changed is renewed at once where it is looked at, else when it is
	let renewing = false;
	const renew = async () => {
		if (renewing) return;
		renewing = true;
		try {
			for (const what of stale) {
				const id = what.match(/^session (\d+)$/)?.[1], name = id ? "sessions" : what;
				if (!document.querySelector("#" + name + ".shown") || written(name)) continue;
				stale.delete(what);
				await (id ? renewSession(id) : renewPart(name));
			}
			failed();
		} catch (e) {
			failed(e);
		}
		renewing = false;
	};
	addEventListener("hashchange", renew);
	setInterval(renew, 400);

	const changes = new EventSource("changes");
	changes.onmessage = e => {
		stale.add(e.data);
		if (e.data !== "memories") stale.add("usage");
		renew();
	};
	changes.onerror = () => { $("state").textContent = "but who served it has ended: what stands here stays as it is"; };
	changes.onopen = () => { $("state").textContent = "as it happens"; };

	const act = {
		pin: id => ask("memories/" + id + "/pin", {}),
		forget: async id => {
			if (!confirm("Forget this memory everywhere? The conversation that it came from does not teach it again.")) return;
			await ask("memories/" + id + "/forget", {});
			for (const acts of document.querySelectorAll('.acts[data-id="' + id + '"]')) acts.closest("li").remove();
		},
		edit: (id, li) => {
			const said = li.querySelector(".said"), acts = li.querySelector(".acts"), text = document.createElement("textarea");
			text.value = said.textContent;
			text.rows = Math.min(12, 2 + text.value.length / 60 | 0);
			text.setAttribute("aria-label", "What the memory says");
			const button = (name, click) => {
				const b = document.createElement("button");
				b.type = "button";
				b.textContent = name;
				b.addEventListener("click", click);
				return b;
			};
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
		const button = e.target.closest?.("[data-do]");
		if (!button) return;
		const li = button.closest("li");
		try {
			await act[button.dataset.do](button.parentElement.dataset.id, li);
			failed();
		} catch (problem) {
			failed(problem);
		}
	});
});
