# To be sourced. beat COMMAND… runs a command that may take long, and says every 25 s that it still runs.
beat() {
	begun=$(date +%s)
	(
		trap 'kill "$nap" 2>/dev/null; exit 0' TERM
		while :; do
			sleep 25 &
			nap=$!
			wait "$nap"
			echo "   … $(($(date +%s) - begun)) s"
		done
	) &
	pulse=$!
	code=0
	"$@" || code=$?
	kill "$pulse" 2>/dev/null || :
	wait "$pulse" 2>/dev/null || :
	return "$code"
}
