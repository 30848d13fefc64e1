# SPDX-License-Identifier: LGPL-2.1-or-later
# What the lines that fish.awk makes ask; `generate' puts it before them.

function __laplace_subcommand # NAME: is it this one?  Without a name: is there none yet?
    set -l words (commandline -opc)
    if set -q argv[1]
        test "$words[2]" = $argv[1]
    else
        test (count $words) = 1
    end
end

# The words that may follow in a list, after those that are there; in one that is joined by
# commas each comes once.
function __laplace_list # SEPARATOR WORD...
    set -l option '^(?:--[a-z-]+=|-[A-Za-z])?'
    set -l kept (string match -r "$option(.*\\$argv[1])?" -- (commandline -ct))[2]
    for word in $argv[2..]
        if test $argv[1] = +; or not contains -- $word (string split , -- "$kept")
            echo "$kept$word" # in quotes, for it may be the first
        end
    end
end

# How many arguments there are, less those that are values of options; a failure where the next
# is such a value.
function __laplace_arguments # OPTION-WITH-A-VALUE...
    set -l number 0
    set -l previous ''
    for word in (commandline -opc)[3..]
        if contains -- "$previous" $argv
            set previous ''
            continue
        end
        set previous $word
        string match -q -r '^-.' -- $word; or set number (math $number + 1)
    end
    echo $number
    not contains -- "$previous" $argv
end

function __laplace_argument # SUBCOMMAND NUMBER OPTION-WITH-A-VALUE...: is that to come?
    __laplace_subcommand $argv[1]; or return
    set -l number (__laplace_arguments $argv[3..]); and test $number = (math $argv[2] - 1)
end

# What follows a program is no option of ours.
function __laplace_no_program_yet # SUBCOMMAND OPTION-WITH-A-VALUE...
    __laplace_subcommand $argv[1]; and test (__laplace_arguments $argv[2..]) = 0
end

# (What fish completes as a command may be a function or a keyword.)
function __laplace_programs
    for file in $PATH/*
        test -f $file -a -x $file; and string replace -r '^.*/' '' -- $file
    end
end

complete -c laplace -n __laplace_subcommand -f
complete -c laplace -n __laplace_subcommand -s V -l version -d 'Print program version'
complete -c laplace -n __laplace_subcommand -l help -d 'Give this help list'
complete -c laplace -n __laplace_subcommand -a help -d 'show the options of a subcommand'
