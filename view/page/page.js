
"use strict";
// Without this script everything can be read. It finds memories, copies commands, and on a live page asks for changes.
document.documentElement.classList.add("js");
addEventListener("DOMContentLoaded", () => {
	const $ = id => document.getElementById(id);
	const live = "live" in document.documentElement.dataset;

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
			for (let up = target; up; up = up.parentElement) if (up.matches("details.session")) up.open = true;
			target.scrollIntoView();
		} else if (target) {
			scrollTo(0, 0);
			target.querySelector("h2").focus({preventScroll: true});
		}
	};
	addEventListener("hashchange", open);

	// search: an index of the words of all memories, made when it is first asked
	const most = 50;
	const fold = text => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
	let index = null;
	const makeIndex = () => index ??= Array.from($("shelves").querySelectorAll(".memories > li"), li => ({
		li, text: fold(li.firstElementChild.textContent + "\n" + li.children[1].textContent + "\n" + li.closest(".shelf").firstElementChild.title),
	}));
	const find = () => {
		const words = fold($("q").value).split(/\s+/).filter(Boolean);
		$("shelves").classList.toggle("searched", words.length > 0); // quicker than to hide it: it stays laid out
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
});
