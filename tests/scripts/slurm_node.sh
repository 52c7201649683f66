#!/usr/bin/env bash
# A Slurm cluster of this machine alone, for tests, as the present user and beside any other Slurm:
#   slurm_node.sh start FOLDER      its state goes to FOLDER; then export SLURM_CONF=FOLDER/slurm.conf
#   slurm_node.sh stop FOLDER
# Without authentication and on ports of the loopback device: nothing to leave running.
set -euo pipefail
action=$1 folder=$2
export SLURM_CONF=$folder/slurm.conf
stop() {
  local name pid
  scancel --quiet --user "$(id -un)" 2>/dev/null || true
  for name in slurmctld slurmd; do
    pid=$(cat "$folder/$name.pid" 2>/dev/null) || continue
    kill "$pid" 2>/dev/null || true
    for _ in {1..50}; do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
  done
}
if [ "$action" = stop ]; then
  stop
  exit
fi
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
mkdir -p "$folder/state" "$folder/spool"
user=$(id -un) host=$(hostname -s)
cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=100000,batch_sched_delay=0,requeue_delay=0
MaxArraySize=${MAX_ARRAY_SIZE:-1001}
MinJobAge=300
KillWait=10
ReturnToService=2
MpiDefault=none
$(slurmd -C | sed -n 's/^\(NodeName=[^ ]*\) \(.*\)/\1 NodeAddr=127.0.0.1 \2/p') State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld -f "$SLURM_CONF"
slurmd -f "$SLURM_CONF"
for _ in {1..100}; do
  if sinfo -h -o %t 2>/dev/null | grep -qx idle; then exit 0; fi
  sleep 0.1
done
echo "slurm_node.sh: the node does not get ready" >&2
tail -n 5 "$folder/slurmctld.log" "$folder/slurmd.log" >&2
stop
exit 1
