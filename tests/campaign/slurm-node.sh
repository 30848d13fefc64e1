# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154
# A Slurm of one node, for tests: . slurm-node.sh, with `fail' and, where all that it has is kept, a short $scratch, which is
# removed after slurm_ends.
#
# Slurm and MUNGE (Debian's slurm-wlm and munge) run as the present user, on loopback.  No other Slurm is ever spoken to.
PATH=$PATH:/usr/sbin:/sbin
daemons=''

slurm_is_there() {
	for program in munged slurmctld slurmd sbatch srun scancel scontrol squeue; do
		command -v "$program" >/dev/null || {
			echo "skip: there is no $program (Debian's slurm-wlm and munge)"
			return 1
		}
	done
}

slurm_ends() {
	scancel --state=PENDING,RUNNING --user="$(id -u)" >/dev/null 2>&1 || true
	for daemon in $daemons; do
		kill "$daemon" 2>/dev/null || true
	done
	for daemon in $daemons; do
		wait "$daemon" 2>/dev/null || true
	done
}

# A port that is not listened on, from this one on.
free_port() {
	awk -v port="$1" '
		$4 == "0A" { sub(/.*:/, "", $2); used[$2] = 1 }
		END { while (sprintf("%04X", port) in used) port++; print port }' \
		/proc/net/tcp /proc/net/tcp6 2>/dev/null
}

# Until a command succeeds; even on a busy machine nothing here takes three minutes.
await() { # WHAT COMMAND...
	what=$1 tries=1800
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "waited in vain: $what"
		sleep 0.1
	done
}

start_slurm() {
	SLURM_CONF=$scratch/slurm.conf
	export SLURM_CONF
	host=$(hostname -s)
	user=$(id -un)
	ctld_port=$(free_port $((20000 + $$ % 20000)))
	slurmd_port=$(free_port $((ctld_port + 1)))
	mkdir "$scratch/state" "$scratch/spool"
	(umask 077 && head -c 1024 /dev/urandom >"$scratch/munge.key")
	# no cgroups: they may not be ours to make.  Before 23.02 there is no name for that, and the
	# plugin for version 1 does nothing unless it is used.
	case $(slurmd -V) in
	*\ 2[0-2].*) echo "CgroupPlugin=cgroup/v1" ;;
	*) echo "CgroupPlugin=disabled" ;;
	esac >"$scratch/cgroup.conf"
	cat >"$scratch/slurm.conf" <<-EOF
		ClusterName=laplace
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$ctld_port
		SlurmdPort=$slurmd_port
		SlurmUser=$user
		SlurmdUser=$user
		AuthInfo=socket=$scratch/munge.socket
		StateSaveLocation=$scratch/state
		SlurmdSpoolDir=$scratch/spool
		SlurmctldPidFile=$scratch/slurmctld.pid
		SlurmdPidFile=$scratch/slurmd.pid
		SlurmctldLogFile=$scratch/slurmctld.log
		SlurmdLogFile=$scratch/slurmd.log
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SchedulerType=sched/builtin
		SchedulerParameters=batch_sched_delay=0,sched_interval=1
		SlurmdParameters=config_overrides
		ReturnToService=2
		KillWait=2
		NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
		PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
	EOF
	munged --foreground --force --key-file="$scratch/munge.key" --socket="$scratch/munge.socket" \
		--pid-file="$scratch/munged.pid" --log-file="$scratch/munged.log" \
		--seed-file="$scratch/munged.seed" --num-threads=2 >"$scratch/munged.out" 2>&1 &
	daemons=$!
	await "munged" test -S "$scratch/munge.socket"
	slurmctld -D -f "$SLURM_CONF" >"$scratch/slurmctld.out" 2>&1 &
	daemons="$! $daemons"
	await "slurmctld" scontrol ping
	slurmd -D -f "$SLURM_CONF" >"$scratch/slurmd.out" 2>&1 &
	daemons="$! $daemons"
	await "a node that is idle" node_is_idle
}

node_is_idle() {
	scontrol show node | grep -q 'State=IDLE'
}
