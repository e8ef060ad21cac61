#!/usr/bin/env node
// Starts the native program of this machine's platform package, which npm has installed as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const say = (text) => process.stderr.write(`signet-acp-proxy: ${text}\n`);
const args = process.argv.slice(2);

let program = installed();
if (["setup", "init"].includes(args[0]) && !args.includes("--remove") && inCache(program)) {
  program = keep(program);
}
run(program);

// installed is the native program's path.
function installed() {
  const name = `signet-acp-proxy-${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "signet-acp-proxy.exe" : "signet-acp-proxy";
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), "bin", file);
  } catch {
    say(`the package ${name} is not installed: npm was told to leave out optional packages, ` +
      "or there is none for this system; build it with: go install github.com/Signet-AI/signet-acp-proxy/cmd/signet-acp-proxy@latest");
    process.exit(1);
  }
}

// inCache reports whether a path is in the folder of npx, which is emptied now and then.
function inCache(file) {
  return file.split(path.sep).includes("_npx");
}

// keep copies the program to where it stays, for what is set up now is started for years, and by its path.
function keep(file) {
  const data = process.platform === "win32"
    ? process.env.LOCALAPPDATA || path.join(os.homedir(), "AppData", "Local")
    : process.env.XDG_DATA_HOME || path.join(os.homedir(), ".local", "share");
  const target = path.join(data, "signet-acp-proxy", path.basename(file));
  const copy = `${target}.${process.pid}`;
  try {
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.copyFileSync(file, copy);
    fs.chmodSync(copy, 0o755);
    fs.renameSync(copy, target); // in one step: an agent may be starting it
  } catch (err) {
    fs.rmSync(copy, { force: true });
    say(`cannot keep a copy at ${target} (${err.message}); npx may remove the program that is set up now`);
    return file;
  }
  say(`kept at ${target}`);
  return target;
}

// run starts the program in our place: the same terminal and pipes, the same end.
function run(file) {
  const child = spawn(file, args, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (err) => {
    say(`${file}: ${err.message}`);
    process.exit(127);
  });
  child.on("exit", (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else {
      process.exit(code);
    }
  });
}
